//! Safety lines of the runtime that a search can remove, like the runtime's `control`.

use std::cell::Cell;

/// Whether the line with this name is removed.
macro_rules! is_removed {
    ($name:ident) => {
        $crate::control::SafetyLine::$name.is_removed()
    };
}
pub(crate) use is_removed;

/// A line of a shared file of the runtime whose absence makes a lock unsafe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    non_camel_case_types,
    missing_docs,
    reason = "as the runtime declares them"
)]
pub enum SafetyLine {
    confirmation_of_a_grant,
    more_than_half,
    same_owner_for_each_attempt,
    token_of_a_lost_yield,
    token_written_back,
    ttl_of_the_successor,
    vote_under_a_yield,
}

thread_local! {
    static REMOVED: Cell<Option<SafetyLine>> = const { Cell::new(None) };
}

impl SafetyLine {
    /// Whether the line is removed on the current thread.
    pub(crate) fn is_removed(self) -> bool {
        REMOVED.get() == Some(self)
    }
}

/// Restores the removed line of the current thread on drop.
pub(crate) struct Removed(());

impl Removed {
    pub(crate) fn new(line: Option<SafetyLine>) -> Removed {
        REMOVED.set(line);
        Removed(())
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        REMOVED.set(None);
    }
}
