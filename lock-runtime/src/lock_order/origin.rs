//! The origin of a class's text.

/// The origin of a class's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is in the program: the text of a template around its values, or the name of a lock.
    Code,
    /// It is the lock's key, which logs show only on request.
    Key,
}
