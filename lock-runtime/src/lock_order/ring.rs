//! Describes a ring of locks for people.

use super::class::KnownClass;
use super::class::Origin;
use super::crossing::Crossing;
use super::crossing::Step;
use super::party::Party;

/// Locks that calls take in a ring: each call holds one and waits for the next.
#[derive(Clone, Debug)]
pub(crate) struct Ring(Vec<Edge>);

/// An edge of a ring, with the classes of the two locks.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) held: KnownClass,
    pub(super) asked: KnownClass,
    pub(super) crossing: Crossing,
}

/// Whether a text shows keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Shown,
    Hidden,
}

impl Ring {
    pub(super) fn new(edges: Vec<Edge>) -> Ring {
        Ring(edges)
    }

    /// The classes: `account:<> → ledger:<> → account:<>`.
    pub(crate) fn path(&self, keys: Keys) -> String {
        let edges = if self.is_of_one_class() {
            &self.0[..1]
        } else {
            &self.0
        };
        let first = edges.iter().take(1).map(|edge| &edge.held);
        let asked = edges.iter().map(|edge| &edge.asked);
        let names = first.chain(asked).map(|class| shown(class, "-", keys));
        names.collect::<Vec<_>>().join(" → ")
    }

    /// The calls: which lock each asks for, and which one it holds meanwhile.
    pub(crate) fn calls(&self, keys: Keys) -> String {
        let calls = self.0.iter().map(|edge| edge.call(keys));
        calls.collect::<Vec<_>>().join("; ")
    }

    /// The call whose edge closed the ring.
    pub(crate) fn closed_by(&self) -> Party {
        self.0[0].crossing.asker
    }

    pub(crate) fn advice(&self) -> &'static str {
        if self.has_calls_for_several() {
            "take these locks at once in the functions that nest them, too: keys = [...]"
        } else if self.is_of_one_class() {
            "lock both keys at once: keys = [...]"
        } else {
            "take these locks in one order everywhere, or at once in all of these functions: keys = [...]"
        }
    }

    fn is_of_one_class(&self) -> bool {
        self.0[0].held.id == self.0[0].asked.id
    }

    fn has_calls_for_several(&self) -> bool {
        let mut steps = self.0.iter().map(|edge| edge.crossing.step);
        steps.any(|step| step == Step::Together)
    }
}

impl Edge {
    fn call(&self, keys: Keys) -> String {
        let Crossing {
            step,
            holder,
            asker,
            ..
        } = &self.crossing;
        match step {
            Step::Nested => {
                let held = shown(&self.held, holder.template, keys);
                let asked = shown(&self.asked, asker.template, keys);
                format!("{asker} asks for `{asked}` while {holder} holds `{held}`")
            }
            // Its template covers all its locks.
            Step::Together => {
                let [first, second] = [&self.held, &self.asked].map(|it| shown(it, "-", keys));
                format!("{asker} locks `{first}` and then `{second}` in one call")
            }
        }
    }
}

/// A class, in the words of a call with this template.
fn shown<'a>(class: &'a KnownClass, template: &'a str, keys: Keys) -> &'a str {
    match (class.origin, keys) {
        (Origin::Code, _) if template == "-" => &class.text,
        (Origin::Key, Keys::Shown) => &class.text,
        _ => template,
    }
}
