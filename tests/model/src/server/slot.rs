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
pub(crate) struct KeySet(u8);

impl KeySet {
    pub(crate) const ALL: [Key; 4] = [Key::Lock, Key::Fence, Key::Queue, Key::Shares];

    pub(crate) fn of(keys: &[Key]) -> KeySet {
        KeySet(keys.iter().fold(0, |bits, &key| bits | 1 << key as u8))
    }

    /// The keys that exist.
    pub(crate) fn existing(records: &Records) -> KeySet {
        let exists = |key: &Key| match key {
            Key::Lock => records.lock.is_some(),
            Key::Fence => records.fence.is_some(),
            Key::Queue => !records.queue.entries().is_empty(),
            Key::Shares => records.shares.is_some(),
        };
        let existing = KeySet::ALL.into_iter().filter(exists);
        existing.fold(KeySet::default(), |keys, key| keys.or(KeySet::of(&[key])))
    }

    /// The keys that a command names.
    pub(crate) fn named(command: Command) -> KeySet {
        KeySet::of(match command {
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
            | Command::RevokeOwner { .. } => &KeySet::ALL,
        })
    }

    pub(crate) fn or(self, other: KeySet) -> KeySet {
        KeySet(self.0 | other.0)
    }

    pub(crate) fn and(self, other: KeySet) -> KeySet {
        KeySet(self.0 & other.0)
    }

    pub(crate) fn without(self, other: KeySet) -> KeySet {
        KeySet(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_one(self) -> bool {
        self.0.count_ones() == 1
    }
}
