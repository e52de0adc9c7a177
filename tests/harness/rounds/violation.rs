//! The finding of a checker.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub kind: Kind,
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Two visitors were inside at the same time where exclusion must hold.
    DoubleEntry,
    /// A fenced resource accepted a stale write.
    StaleWrite,
    /// A token was not above the one granted before it.
    TokenOrder,
    /// An acquire was answered after its time.
    LateAnswer,
    /// A lock stayed free, or in the hands of its dead holder, for too long.
    LateGrant,
    /// Something remained after the round.
    LeftBehind,
    /// An expectation of the row's script failed.
    Unexpected,
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::DoubleEntry => "double entry",
            Self::StaleWrite => "stale write",
            Self::TokenOrder => "token order",
            Self::LateAnswer => "late answer",
            Self::LateGrant => "late grant",
            Self::LeftBehind => "left behind",
            Self::Unexpected => "unexpected",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.what)
    }
}
