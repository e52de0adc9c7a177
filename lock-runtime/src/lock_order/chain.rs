//! The locks of one call, in the order of the call.

use smallvec::SmallVec;

use super::class::ClassId;

/// Has room for as many locks as one call may take, without an allocation.
type Several<T> = SmallVec<[T; 32]>;

/// The locks of one call, in the order of the call: by name.
#[derive(Debug)]
pub(super) struct Chain<'a>(Several<Taken<'a>>);

/// A lock of a known class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken<'a> {
    /// Its place among all locks of the call.
    pub(super) place: usize,
    pub(super) class: ClassId,
    text: &'a str,
    /// The class's text before its first value; `None` without values.
    before_value: Option<&'a str>,
    /// The hash of its key.
    pub(super) key: u64,
}

impl<'a> Chain<'a> {
    pub(super) fn new(locks: impl Iterator<Item = Taken<'a>>) -> Chain<'a> {
        Chain(locks.collect())
    }

    /// The edges from each lock to the next ones, if all calls take locks of the two classes in this order. Paths along
    /// these edges lead to all later locks with that property.
    pub(super) fn edges(&self) -> impl Iterator<Item = (&Taken<'a>, &Taken<'a>)> {
        let places = (1..self.0.len()).flat_map(|last| (0..last).map(move |first| (first, last)));
        let edges = places.filter(|&(first, last)| self.is_edge(first, last));
        edges.map(|(first, last)| (&self.0[first], &self.0[last]))
    }

    fn is_edge(&self, first: usize, last: usize) -> bool {
        let (held, asked) = (&self.0[first], &self.0[last]);
        let leads_there = |between: &Taken<'_>| {
            held.is_in_one_order_with(between) && between.is_in_one_order_with(asked)
        };
        held.is_in_one_order_with(asked) && !self.0[first + 1..last].iter().any(leads_there)
    }

    /// The locks of each class that has several.
    pub(super) fn keys_of_one_class(&self) -> impl Iterator<Item = Several<Taken<'a>>> {
        self.0.iter().enumerate().filter_map(|(place, first)| {
            let is_of_class = |other: &&Taken<'_>| other.class == first.class;
            let (before, from) = self.0.split_at(place);
            if before.iter().any(|other| is_of_class(&other)) {
                return None;
            }
            let keys: Several<_> = from.iter().filter(is_of_class).copied().collect();
            (keys.len() > 1).then_some(keys)
        })
    }
}

impl<'a> Taken<'a> {
    pub(super) fn new(place: usize, class: ClassId, text: &'a str, key: u64) -> Taken<'a> {
        Taken {
            place,
            class,
            text,
            before_value: text.split_once("<>").map(|(before, _)| before),
            key,
        }
    }

    /// Whether the two classes are in one order, whatever the values are.
    fn is_in_one_order_with(&self, other: &Taken<'_>) -> bool {
        self.class != other.class && !self.value_decides(other) && !other.value_decides(self)
    }

    /// Whether the other class's text continues where this one has its first value.
    fn value_decides(&self, other: &Taken<'_>) -> bool {
        let before = self.before_value;
        before.is_some_and(|before| other.text.starts_with(before))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bounds::Bounds;
    use super::super::class::Origin;
    use super::super::class::{Class, Classes};
    use super::*;

    /// The edges of a call for locks of these classes.
    fn edges(texts: &[&str]) -> Vec<String> {
        let mut classes = Classes::default();
        let locks = texts.iter().enumerate().map(|(place, text)| {
            let origin = Origin::Code;
            let class = classes.number(Class { text, origin }, &Bounds::DEFAULT);
            Taken::new(place, class.unwrap(), text, 0)
        });
        let chain = Chain::new(locks);
        let edges = chain.edges();
        edges
            .map(|(held, asked)| format!("{} {}", held.text, asked.text))
            .collect()
    }

    #[test]
    fn classes_whose_order_depends_on_values_get_no_edge() {
        for [held, asked] in [
            ["user:<>:wallet", "user:<>:inbox"],
            ["account:<>", "account:<>:limits"],
            ["account:<>", "account:7"],
            ["<>", "account:7"],
            ["a<>", "ab:<>"],
        ] {
            assert_eq!(edges(&[held, asked]), [""; 0]);
            assert_eq!(edges(&[asked, held]), [""; 0]);
        }
        for [held, asked] in [
            ["account:<>", "ledger:<>"],
            ["account", "account:<>"],
            ["account:1", "account:12"],
        ] {
            assert_eq!(edges(&[held, asked]), [format!("{held} {asked}")]);
        }
    }

    #[test]
    fn edges_lead_from_each_lock_to_the_next_locks() {
        assert_eq!(edges(&["a", "b", "c"]), ["a b", "b c"]);
        // An edge passes over locks whose order the values decide.
        assert_eq!(edges(&["a:<>", "a:<>:x", "b"]), ["a:<> b", "a:<>:x b"]);
        assert_eq!(
            edges(&["a:1", "a:<>", "a:2", "b"]),
            ["a:1 a:2", "a:<> b", "a:2 b"]
        );
        assert_eq!(edges(&["a", "b:<>", "b:1"]), ["a b:<>", "a b:1"]);
        // Several locks of one class.
        assert_eq!(edges(&["a:<>", "a:<>", "b"]), ["a:<> b", "a:<> b"]);
    }
}
