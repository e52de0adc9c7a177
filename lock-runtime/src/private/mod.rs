//! What generated code calls. No part of the public interface.
//!
//! An expansion names nothing but `__private::v1`. A change that an older expansion would not
//! compile with becomes `v2`; until then the two crates are tied to one version of each other.

pub(crate) mod body;
mod call;
mod client;
mod failure;
mod key;
mod probe;
mod skip;
mod spec;

/// Everything that an expansion names, and the traits behind it.
pub mod v1 {
    pub use super::body::{Ended, OnLost, drive, run_blocking, settle_blocking};
    pub use super::call::Call;
    pub use super::client::ClientRef;
    pub use super::failure::{FromLockError, LockFailure, absent_guard, or_else};
    pub use super::key::{IntoKey, KeyText, NotText, key};
    pub use super::probe::{
        Failing, NoFuture, NotAFuture, NotAResult, Outcome, OutcomeOfFuture, Refused, Returned,
    };
    pub use super::skip::Skip;
    pub use super::spec::Spec;
    pub use crate::acquire::Acquire;
    pub use crate::error::LockError;
}
