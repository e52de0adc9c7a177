//! The number that lets a resource refuse a writer whose lease has ended.

use std::fmt;

/// A number that rises with every outermost acquisition of a key.
///
/// Send it along with each write to the resource that the lock protects, and let the resource refuse a number
/// lower than the highest it has seen. That covers the case that no lease can: a process that is paused
/// beyond its ttl and writes when it resumes. See Martin
/// Kleppmann, [How to do distributed locking](https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html).
///
/// Readers or permits that hold a lock together have the same token: a resource that refuses lower ones must not refuse
/// one of two rightful holders. It is above every token before them, and below every token after them. So it does not
/// protect a resource from *them*, only from those that they exclude.
///
/// Tokens are not consecutive. They are based on the server's clock in microseconds. So they also rise when
/// the server has lost the last token, as long as its clock is not behind that token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FencingToken(u64);

impl FencingToken {
    /// Digits of a token in Redis.
    pub(crate) const DIGITS: usize = 16;

    /// The distance of the tokens of two grants; the numbers between belong to the first.
    pub(crate) const STEP: u32 = 16;

    pub(crate) const fn new(number: u64) -> FencingToken {
        FencingToken(number)
    }

    /// The token of the next caller in the same grant.
    pub(crate) const fn next(self) -> FencingToken {
        FencingToken(self.0 + 1)
    }

    /// The token of the grant that has served `turns` callers before the one with this token.
    pub(crate) fn of_grant(self, turns: u32) -> FencingToken {
        FencingToken(self.0 - u64::from(turns))
    }

    /// The number: below 2⁶³, so it fits a signed 64-bit column.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<FencingToken> for u64 {
    fn from(token: FencingToken) -> u64 {
        token.0
    }
}
