//! A lock that this process holds.

use std::time::Duration;

use crate::FencingToken;
use crate::key::LockKey;

/// A lock that a client of this process holds, as the client knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LocalHold {
    /// The keys of the locks that are held together, usually one, without the client's prefix.
    pub keys: Vec<LockKey>,
    /// The function with the attribute; `None` for a lock acquired without the attribute.
    pub function: Option<&'static str>,
    /// The fencing token; `None` if its holder has not asked for one.
    pub token: Option<FencingToken>,
    /// How long this process has had the lock. Its callers may have handed it over meanwhile.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "age_ms", serialize_with = "super::json::millis")
    )]
    pub age: Duration,
    /// The remaining time of the lease, which is renewed.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "remaining_ms", serialize_with = "super::json::millis")
    )]
    pub remaining: Duration,
    /// How many callers of this client wait behind the holder. Readers and permits wait on the server instead.
    pub waiting_callers: usize,
}
