//! How a lock is held.

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By one owner at a time.
    Exclusive,
}
