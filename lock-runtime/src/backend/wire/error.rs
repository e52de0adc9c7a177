//! The reason that a command failed.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::error::{LockError, LockErrorKind};
use crate::state::is_printable;

/// Why a command failed.
#[derive(Clone, Debug)]
pub(crate) enum WireError {
    /// The server refused the command, and would refuse it again.
    Refused(Detail),
    /// The command was not sent, was not answered in time, or the server cannot carry it out now.
    Unavailable(Detail),
}

/// A description of the failure, and the error that caused it if that is worth keeping.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    text: String,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Detail {
    pub(crate) fn caused_by(mut self, cause: Arc<dyn Error + Send + Sync>) -> Detail {
        self.cause = Some(cause);
        self
    }
}

impl<T: Into<String>> From<T> for Detail {
    fn from(text: T) -> Detail {
        // Text from a callback, a file name or a server may contain control characters, which terminals obey.
        let text = text.into().replace(|c| !is_printable(c), " ");
        Detail { text, cause: None }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl WireError {
    pub(crate) fn refused(detail: impl Into<Detail>) -> WireError {
        WireError::Refused(detail.into())
    }

    pub(crate) fn unavailable(detail: impl Into<Detail>) -> WireError {
        WireError::Unavailable(detail.into())
    }

    /// Returns whether the server refused the command because the user lacks a permission.
    pub(crate) fn is_of_a_missing_permission(&self) -> bool {
        let is_it = |text: &str| text.split(' ').next() == Some("NOPERM");
        matches!(self, WireError::Refused(detail) if is_it(&detail.text))
    }

    pub(crate) fn into_error(self) -> LockError {
        let (kind, Detail { text, cause }) = match self {
            WireError::Refused(detail) => (LockErrorKind::Rejected, detail),
            WireError::Unavailable(detail) => (LockErrorKind::Unavailable, detail),
        };
        LockError::new(kind).with_detail(text).with_cause(cause)
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Refused(detail) | WireError::Unavailable(detail) => detail.fmt(f),
        }
    }
}
