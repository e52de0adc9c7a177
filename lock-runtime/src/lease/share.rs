//! A share of a lock: the part that one owner takes, alongside other owners.
//!
//! # Invariants
//!
//! - The sum of all shares is compared with the limit of the caller that asks.

use std::fmt;
use std::num::NonZeroU32;

/// A share of a lock: the part that one owner takes, alongside other owners.
///
/// An owner is admitted if the shares that are taken leave room for it under its *own* limit. No limit is stored, so
/// two versions of a program may have different limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    take: NonZeroU32,
    /// How much may be taken in all; `None` for readers.
    limit: Option<NonZeroU32>,
}

impl Share {
    /// The share of a reader.
    pub(crate) const READ: Share = Share {
        take: NonZeroU32::MIN,
        limit: None,
    };

    /// Creates a share of `take` of `limit` permits.
    pub(crate) fn permits(limit: u32, take: u32) -> Result<Share, String> {
        let limit = NonZeroU32::new(limit).ok_or("`permits` must be at least 1")?;
        let take = NonZeroU32::new(take).ok_or("`take` must be at least 1")?;
        if take > limit {
            return Err(format!("`take` is {take}, but `permits` is only {limit}"));
        }
        Ok(Share {
            take,
            limit: Some(limit),
        })
    }

    pub(crate) fn take(self) -> u32 {
        self.take.get()
    }

    /// Returns how much may be taken in all; `None` for readers.
    pub(crate) fn limit(self) -> Option<u32> {
        self.limit.map(NonZeroU32::get)
    }

    /// Returns whether there is room if `taken` is taken already.
    pub(crate) fn fits(self, taken: u64) -> bool {
        self.limit()
            .is_none_or(|limit| taken + u64::from(self.take()) <= u64::from(limit))
    }
}

/// Writes the tag before the label of a share's queue entry, which tells the scripts the mode that the waiter asks for.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit().unwrap_or(0);
        write!(f, "\u{1f}{}/{limit}\u{1f}", self.take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_fit_up_to_their_limit() {
        let two_of_five = Share::permits(5, 2).unwrap();
        assert!(two_of_five.fits(3));
        assert!(!two_of_five.fits(4));
        assert!(Share::READ.fits(u64::MAX / 2));
    }

    #[test]
    fn impossible_permits_are_refused_with_a_reason() {
        assert!(Share::permits(0, 1).unwrap_err().contains("at least 1"));
        assert!(Share::permits(5, 0).unwrap_err().contains("at least 1"));
        let reason = Share::permits(5, 6).unwrap_err();
        assert_eq!(reason, "`take` is 6, but `permits` is only 5");
    }

    #[test]
    fn tag_has_take_and_limit_between_separators() {
        assert_eq!(Share::READ.to_string(), "\u{1f}1/0\u{1f}");
        assert_eq!(Share::permits(5, 2).unwrap().to_string(), "\u{1f}2/5\u{1f}");
    }
}
