//! The record in which a client keeps its locks.

use crate::error::LockError;

/// Selects the record in which a client keeps its locks on a server, for
/// [`LockClientBuilder::record`](crate::LockClientBuilder::record).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockRecord {
    /// This crate's own record: a string, as `SET NX PX` sets it, and a separate queue of waiters.
    #[default]
    Native,
    /// The record of Redisson's `RLock`, 3.5 to 4.7, so that Java services and this client exclude each other.
    ///
    /// The lock is a hash at the key with its prefix, and its release is announced on Redisson's channel. Waiting
    /// callers listen to that channel and also poll every 200 ms. They compete with the callers of other processes, in
    /// no order.
    ///
    /// `read`, `write`, `permits`, `lock_all`, `min_hold`, `retain` and `downgrade` fail with
    /// [`InvalidOptions`](crate::LockErrorKind::InvalidOptions): that record has no room for them. See also [what each
    /// side sees](crate::docs::coming_from::redisson#both-at-the-same-time).
    Redisson,
}

impl LockRecord {
    /// Refuses what Redisson's record cannot do.
    pub(crate) fn require_native(self, feature: &str) -> Result<(), LockError> {
        match self {
            LockRecord::Native => Ok(()),
            LockRecord::Redisson => Err(LockError::invalid_options(format!(
                "Redisson's record has no {feature}: use another client, with `LockRecord::Native` and other keys"
            ))),
        }
    }
}
