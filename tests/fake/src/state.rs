//! The state of a server: plain data, which can be cloned, compared and hashed.

use std::collections::{BTreeMap, BTreeSet};

use crate::reply::Reply;
use crate::value::{Bytes, Stored, Value};

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

/// A published message: its channel and its payload.
pub type Message = (Bytes, Bytes);

/// Everything that a server knows. It changes only by commands and by its owner: the clock stands still.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// The keys. Some may have expired: a server, too, removes them late.
    pub keys: BTreeMap<Bytes, Entry>,
    /// The clock in µs since 1970.
    pub now: i64,
    /// The digests of the scripts that it knows.
    pub scripts: BTreeSet<String>,
    /// How many subscribers each channel has.
    pub channels: BTreeMap<Bytes, u32>,
    /// How many subscribers each pattern has.
    pub patterns: BTreeMap<Bytes, u32>,
    /// The messages since the owner of this state last took them.
    pub published: Vec<Message>,
    /// Whether it refuses commands that need memory.
    pub is_full: bool,
    /// Whether its slot is being migrated: a missing key may be on the other node.
    pub is_moving: bool,
    /// The commands that the user may not send, in upper case.
    pub denied: BTreeSet<String>,
    /// Its command to compare and delete.
    pub deletion: Deletion,
}

/// The server's command that deletes a key only if it has a given value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deletion {
    /// There is none: Redis up to 8.2, Valkey up to 8.1.
    #[default]
    Absent,
    /// `DELIFEQ key value`: Valkey since 9.0.
    DelIfEq,
    /// `DELEX key IFEQ value`: Redis since 8.4.
    DelEx,
}

/// A key's value, and when it expires.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The value.
    pub value: Value,
    /// When the key expires in ms since 1970.
    pub expires: Option<i64>,
}

impl State {
    /// Returns the clock in ms since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now.div_euclid(1_000)
    }

    /// Returns the key's entry, unless it has expired. A key lives through the millisecond in which it expires.
    pub fn entry(&mut self, key: &[u8]) -> Option<&mut Entry> {
        let now = self.now_ms();
        let entry = self.keys.get(key)?;
        if entry.is_expired(now) {
            self.keys.remove(key);
        }
        self.keys.get_mut(key)
    }

    /// Removes the keys that have expired.
    pub fn sweep(&mut self) {
        let now = self.now_ms();
        self.keys.retain(|_, entry| !entry.is_expired(now));
    }

    /// Returns the value of this type.
    pub(crate) fn find<T: Stored>(&mut self, key: &[u8]) -> Result<Option<&mut T>, Reply> {
        match self.entry(key) {
            None => Ok(None),
            Some(entry) => T::of(&mut entry.value)
                .map(Some)
                .ok_or_else(|| Reply::Error(WRONG_TYPE.into())),
        }
    }

    /// Returns the value of this type, which is created if there is none. The caller fills it.
    pub(crate) fn find_or_create<T: Stored>(&mut self, key: &[u8]) -> Result<&mut T, Reply> {
        if self.entry(key).is_none() {
            let value = T::default().into_value();
            self.set(key, value, None);
        }
        Ok(self.find(key)?.expect("it was created"))
    }

    pub(crate) fn set(&mut self, key: &[u8], value: Value, expires: Option<i64>) {
        self.keys.insert(key.to_vec(), Entry { value, expires });
    }

    /// Removes the key if its last member is gone.
    pub(crate) fn remove_if_empty(&mut self, key: &[u8]) {
        if self.entry(key).is_some_and(|entry| entry.value.is_gone()) {
            self.keys.remove(key);
        }
    }
}

impl Entry {
    fn is_expired(&self, now_ms: i64) -> bool {
        self.expires.is_some_and(|expires| now_ms > expires)
    }
}
