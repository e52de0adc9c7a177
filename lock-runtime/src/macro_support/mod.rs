//! The functions that generated code calls. Not part of the public interface.
//!
//! An expansion names nothing but `__private::v1`. A change that breaks older expansions becomes `v2`; until then the
//! two crates are tied to one version of each other.

mod assert_locked;
mod body_error;
mod copies;
mod failure;
mod key_expr;
mod key_list;
mod locked_call;
mod skip;
mod spec;
mod template_writer;

/// Inspection for this project's own tests.
pub mod inspect {
    pub use crate::background::background_tasks;
}

/// Everything that an expansion names, and the traits behind it.
pub mod v1 {
    pub use super::assert_locked::{assert_locked, assert_locked_installed};
    pub use super::body_error::{
        BodyResult, Failing, FutureResult, NoFuture, NotAFuture, NotAResult, Refused, Returned,
    };
    pub use super::copies::{Copies, Survived, copies_survive};
    pub use super::failure::{FromLockError, LockFailure, absent_guard, absent_token, or_else};
    pub use super::key_expr::{IntoKey, KeyText, NotText, key};
    pub use super::key_list::{IntoKeyList, KeyListText, NotTextList, key_list};
    pub use super::locked_call::{Call, release_after_blocking, run_blocking, token};
    pub use super::skip::Skip;
    pub use super::spec::{ClientRef, Spec, set};
    pub use super::template_writer::{DeclaredKey, TemplateWriter, declared};
    pub use crate::call_tree::OnLost;
    pub use crate::client::body_end::BodyEnd;
    pub use crate::client::{Access, Acquire, CallOptions, Claim, OnBusy};
    pub use crate::error::LockError;
    pub use crate::key::{KeyPart, KeyTemplate, KeyWriter, LockKey};
}
