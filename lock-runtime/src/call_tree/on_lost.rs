//! How a body ends if its lock is lost.

/// How a body ends if its lock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLost {
    /// The body is dropped at its current await, and the call fails.
    Cancel,
    /// The body runs to its end, and its result is kept.
    Finish,
    /// The body blocks its thread: neither it nor any body around it can be stopped while it runs.
    Block,
}
