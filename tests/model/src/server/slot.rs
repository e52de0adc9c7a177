//! The keys of a lock, which are in one slot.

use super::{Command, Records};

/// A key of a lock's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// K.
    Lock,
    /// F.
    Fence,
    /// Q.
    Queue,
    /// R.
    Shares,
}

/// Some keys, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Keys(u8);

impl Keys {
    pub(crate) const ALL: [Key; 4] = [Key::Lock, Key::Fence, Key::Queue, Key::Shares];

    pub(crate) fn of(keys: &[Key]) -> Keys {
        Keys(keys.iter().fold(0, |bits, &key| bits | 1 << key as u8))
    }

    /// The keys that exist.
    pub(crate) fn existing(records: &Records) -> Keys {
        let exists = |key: &Key| match key {
            Key::Lock => records.lock.is_some(),
            Key::Fence => records.fence.is_some(),
            Key::Queue => !records.queue.entries().is_empty(),
            Key::Shares => records.shares.is_some(),
        };
        let existing = Keys::ALL.into_iter().filter(exists);
        existing.fold(Keys::default(), |keys, key| keys.or(Keys::of(&[key])))
    }

    /// The keys that a command names.
    pub(crate) fn named(command: Command) -> Keys {
        Keys::of(match command {
            Command::Take { .. }
            | Command::Renew { .. }
            | Command::Release { .. }
            | Command::Delete { .. }
            | Command::Reserve { .. } => &[Key::Lock],
            Command::ShareRenew { .. } | Command::ShareRelease { .. } => &[Key::Lock, Key::Shares],
            Command::Acquire { .. } | Command::Mint { .. } | Command::End { .. } => {
                &[Key::Lock, Key::Fence, Key::Queue]
            }
            Command::ShareAcquire { .. }
            | Command::Downgrade { .. }
            | Command::ShareEnd { .. }
            | Command::Revoke { .. }
            | Command::RevokeOwner { .. } => &Keys::ALL,
        })
    }

    pub(crate) fn or(self, other: Keys) -> Keys {
        Keys(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Keys) -> Keys {
        Keys(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Keys) -> Keys {
        Keys(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_one(self) -> bool {
        self.0.count_ones() == 1
    }
}
