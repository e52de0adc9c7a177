//! The names of a call in reports.

use std::panic::Location;
use std::sync::Arc;

/// The names of a call in reports, which are also those of its lease.
#[derive(Clone, Debug)]
pub(crate) struct CallLabels {
    /// Empty if the lock is taken without the attribute.
    pub(crate) function: &'static str,
    pub(crate) template: &'static str,
    /// The key as logs show it; `None` unless the client logs keys. Never in metrics.
    /// A thin pointer, since every lease has it.
    pub(crate) key: Option<Arc<String>>,
    /// Where the lock is taken in the program.
    pub(crate) place: &'static Location<'static>,
}

impl CallLabels {
    /// The labels of a call at the caller's place, whose key is not logged.
    #[track_caller]
    pub(crate) fn new(function: &'static str, template: &'static str) -> CallLabels {
        CallLabels {
            function,
            template,
            key: None,
            place: Location::caller(),
        }
    }

    /// The key, for a field that is absent without one.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.as_str())
    }
}
