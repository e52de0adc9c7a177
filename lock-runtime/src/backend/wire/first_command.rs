//! The first command of an acquire.

/// What an acquire begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstCommand {
    /// A plain `SET NX`, where the server has that: the lock is mostly free, and then this is all, without a token. If it is
    /// taken the script follows.
    Take,
    /// The script, whose grants have tokens.
    Script,
}
