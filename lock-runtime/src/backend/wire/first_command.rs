//! The first command of an acquire.

/// The first command of an acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstCommand {
    /// A plain `SET NX`, if the server supports it. A lock is usually free, and then this suffices, without a token. If
    /// the lock is taken, the script follows.
    Take,
    /// The script. Its grants have tokens.
    Script,
}
