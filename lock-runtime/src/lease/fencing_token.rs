//! The number by which a resource refuses a writer whose lease has ended.

use std::fmt;
use std::num::TryFromIntError;

/// A number that rises from one holder of a key to the next, among the holders that ask for one.
///
/// Send the token along with each write to the resource that the lock protects, and let the resource refuse a token
/// lower than the highest it has seen. That covers the case that no lease can: a process that is paused beyond its ttl
/// and writes when it resumes. See Martin Kleppmann, [How to do distributed
/// locking](https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html).
///
/// # Ask for one
///
/// Taking a free lock costs the server three times as much with a token as without. So a holder has a token only if it
/// asks:
///
/// | how | when the server mints it |
/// |---|---|
/// | [`token = name`](macro@crate::distributed_lock#token) in the attribute | with the acquisition, before the body |
/// | [`Acquire::fenced`](crate::Acquire::fenced) | with the acquisition |
/// | [`LockGuard::fencing_token`](crate::LockGuard::fencing_token) | at the first call, with one or two commands more |
///
/// The holder may ask at any time while it holds the lock. The server compares the owner, so a holder that has lost the
/// lock gets the error [`Lost`](crate::LockErrorKind::Lost) and no token. A token that is minted later is the time of
/// the grant, not of the mint: a server that has been replaced without noticing may still mint one, however long it was
/// frozen, and that is lower than the token of the holder to which the next server has granted the lock. The same holds
/// for the token that a [`downgrade`](crate::LockGuard::downgrade) gives. Therefore the order of tokens is the order of
/// holding, whenever they are minted, as long as the servers' clocks differ by less than passes between two grants.
///
/// **Everyone who writes to the resource must send a token.** A holder without a token leaves no trace at the resource:
/// a late write of the previous holder is accepted, since the resource has seen no higher number.
///
/// Some holders have a token without asking: holders that got the lock in a hand-off, holders with `min_hold` or
/// `wait = "0s"`, readers, writers, holders of permits or of several keys, and all holders on a quorum, in
/// Redisson's record and in memory. So do all holders of a client with
/// [`wait_replicas`](crate::LockClientBuilder::wait_replicas).
///
/// # Values
///
/// Readers or permits that hold a lock together have the same token: a resource that refuses lower ones must not refuse
/// one of two rightful holders. It is above every earlier token, and below every later one. So it does not protect a
/// resource from *them*, only from the holders that they exclude.
///
/// Tokens are not consecutive. They are the time of the grant, by the server's clock in microseconds, so they rise even
/// if the server has lost the last token, or another server has taken its place, as long as its clock is not behind that
/// token.
///
/// # Examples
///
/// A database column is usually a signed 64-bit integer. A token converts to and from one:
///
/// ```
/// use lock_runtime::{FencingToken, LockClient};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = LockClient::memory().lock("order:42").fenced().acquire().await?;
/// let token = guard.fencing_token().await?; // sends nothing: the acquisition has brought the token
/// let column: i64 = token.into();
/// assert_eq!(FencingToken::try_from(column)?, token);
/// assert!(FencingToken::try_from(-1_i64).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FencingToken(u64);

impl FencingToken {
    /// Digits of a token in Redis.
    pub(crate) const DIGITS: usize = 16;

    /// The lowest token of a server: the time in µs in 2001. A lower number in a record is not a token.
    pub(crate) const FIRST: u64 = 1_000_000_000_000_000;

    /// A record without a token has the time in milliseconds instead. For 30 000 years it stays below
    /// [`FIRST`](Self::FIRST).
    const ABSENT_UNIT: u64 = 1_000;

    /// The distance between the tokens of two grants; the numbers between them belong to the first.
    pub(crate) const STEP: u32 = 16;

    pub(crate) const fn new(number: u64) -> FencingToken {
        FencingToken(number)
    }

    /// Returns the number in the record of a lock that was taken at this time (µs since 1970) without a token.
    pub(crate) const fn absent(taken_at: u64) -> FencingToken {
        let number = taken_at / FencingToken::ABSENT_UNIT;
        if number < FencingToken::FIRST {
            FencingToken(number)
        } else {
            FencingToken(0)
        }
    }

    /// Returns whether a server minted this number. If not, it is the time at which the holder took the lock, by the
    /// holder's clock.
    pub(crate) const fn is_minted(self) -> bool {
        self.0 >= FencingToken::FIRST
    }

    /// Returns when the record with this number was written, in µs since 1970.
    pub(crate) const fn time(self) -> u64 {
        if self.is_minted() {
            self.0
        } else {
            self.0 * FencingToken::ABSENT_UNIT
        }
    }

    /// Returns the token of the caller that is `turn` turns behind the first caller of the same grant.
    pub(crate) const fn of_turn(self, turn: u32) -> FencingToken {
        FencingToken(self.0 + turn as u64)
    }

    /// Returns whether this is the token of a grant, or of one of its turns.
    pub(crate) fn is_turn_of(self, grant: FencingToken) -> bool {
        let turns = self.0.checked_sub(grant.0);
        turns.is_some_and(|turns| turns < u64::from(FencingToken::STEP))
    }

    /// Returns the number, which is below 2⁶³, so it fits a signed 64-bit column.
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

/// Never overflows: servers return tokens of 16 digits, a memory client counts from 0, and a conversion from a number
/// above [`i64::MAX`] fails.
impl From<FencingToken> for i64 {
    fn from(token: FencingToken) -> i64 {
        i64::try_from(token.0).expect("a token is below 2^63")
    }
}

/// Restores a stored token. Fails for a negative number.
impl TryFrom<i64> for FencingToken {
    type Error = TryFromIntError;

    fn try_from(number: i64) -> Result<FencingToken, TryFromIntError> {
        u64::try_from(number).map(FencingToken)
    }
}

/// Restores a stored token. Fails above [`i64::MAX`], which no token reaches.
impl TryFrom<u64> for FencingToken {
    type Error = TryFromIntError;

    fn try_from(number: u64) -> Result<FencingToken, TryFromIntError> {
        i64::try_from(number).map(|_| FencingToken(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_token_is_the_same_token() {
        let largest = 10_u64.pow(FencingToken::DIGITS as u32) - 1;
        for number in [0, 1, largest] {
            let token = FencingToken::new(number);
            assert_eq!(FencingToken::try_from(i64::from(token)), Ok(token));
            assert_eq!(FencingToken::try_from(u64::from(token)), Ok(token));
            assert_eq!(i64::from(token).to_string(), token.to_string());
        }
    }

    #[test]
    fn number_outside_the_range_of_tokens_is_refused() {
        assert!(FencingToken::try_from(-1_i64).is_err());
        assert!(FencingToken::try_from(i64::MIN).is_err());
        assert!(FencingToken::try_from(1_u64 << 63).is_err());
        let greatest = FencingToken::try_from(i64::MAX).unwrap();
        assert_eq!(i64::from(greatest), i64::MAX);
    }
}
