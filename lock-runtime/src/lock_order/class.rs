//! The class of a lock: the same code takes the locks of one class, for different values.

use std::collections::HashMap;

use super::bounds::{Bound, Bounds};
use crate::key::LockKey;

/// The class of a lock that is held or asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class<'a> {
    pub(crate) text: &'a str,
    pub(crate) origin: Origin,
}

/// The origin of a class's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is in the program: the text of a template around its values, or the name of a lock.
    Code,
    /// It is the lock's key, which logs show only on request.
    Key,
}

/// A class that was seen.
#[derive(Clone, Debug)]
pub(super) struct KnownClass {
    pub(super) id: ClassId,
    /// The text for reports. A key may be a stranger's input, so it is escaped and truncated.
    pub(super) text: Box<str>,
    pub(super) origin: Origin,
}

/// The number of a class. Classes are numbered as they are first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClassId(u32);

/// The classes that were seen.
#[derive(Debug, Default)]
pub(super) struct Classes {
    // Keys may be a stranger's input, so std's hasher guards against chosen collisions.
    ids: HashMap<Box<str>, ClassId>,
    known: Vec<KnownClass>,
    keys: usize,
}

impl Classes {
    pub(super) fn find(&self, class: Class<'_>) -> Option<ClassId> {
        self.ids.get(class.text).copied()
    }

    /// Returns the number of a class. A new class gets one if there is room.
    pub(super) fn number(&mut self, class: Class<'_>, bounds: &Bounds) -> Result<ClassId, Bound> {
        if let Some(id) = self.find(class) {
            let known = &mut self.known[id.0 as usize];
            if class.origin == Origin::Code && known.origin == Origin::Key {
                // The program itself contains this text, so it is no secret.
                known.origin = Origin::Code;
                self.keys -= 1;
            }
            return Ok(id);
        }
        if self.known.len() >= bounds.classes {
            return Err(Bound::Classes(bounds.classes));
        }
        if class.origin == Origin::Key {
            if self.keys >= bounds.keys() {
                return Err(Bound::Keys(bounds.keys()));
            }
            self.keys += 1;
        }
        let id = ClassId(u32::try_from(self.known.len()).expect("classes are bounded"));
        self.ids.insert(class.text.into(), id);
        let text = match class.origin {
            Origin::Code => class.text.into(),
            Origin::Key => LockKey::from(class.text).to_string().into(),
        };
        self.known.push(KnownClass {
            id,
            text,
            origin: class.origin,
        });
        Ok(id)
    }

    pub(super) fn get(&self, id: ClassId) -> &KnownClass {
        &self.known[id.0 as usize]
    }
}
