//! Limits how much a graph remembers.

use std::fmt;

use super::class::Origin;

/// How much is remembered, and how far rings are searched. Locks whose keys stand for their classes take half of the
/// room for classes and edges, which leaves some for the locks of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) classes: usize,
    /// This many edges of nested calls, and as many of calls for several locks.
    pub(super) edges: usize,
    pub(super) pairs: usize,
    /// The keys of calls for several keys of one class.
    pub(super) listed_keys: usize,
    pub(super) rings: usize,
    /// How many of the rings that one call closes are reported, the shortest first.
    pub(super) rings_of_a_call: usize,
    pub(super) paths: usize,
}

impl Bounds {
    /// Many more than a program has. All of it takes less than two megabytes, which only keys can fill.
    pub(super) const DEFAULT: Bounds = Bounds {
        classes: 1024,
        edges: 4096,
        pairs: 256,
        listed_keys: 1024,
        rings: 256,
        rings_of_a_call: 16,
        paths: 1_000,
    };

    pub(super) fn keys(&self) -> usize {
        self.classes / 2
    }

    /// Returns how many edges there may be before no edge between these classes is added.
    pub(super) fn edges_between(&self, origins: [Origin; 2]) -> usize {
        if origins.contains(&Origin::Key) {
            self.edges / 2
        } else {
            self.edges
        }
    }
}

/// A bound that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Classes(usize),
    Keys(usize),
    Edges(usize),
    Rings(usize),
    Paths(usize),
}

impl Bound {
    /// How to make room.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Bound::Keys(_) => "name the locks that are taken by hand: Acquire::name",
            Bound::Rings(_) | Bound::Paths(_) => "mend the rings that were reported",
            Bound::Classes(_) | Bound::Edges(_) => "nest fewer different locks in each other",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Classes(limit) => write!(f, "{limit} templates and names of locks"),
            Bound::Keys(limit) => write!(f, "{limit} keys of locks without a name"),
            Bound::Edges(limit) => write!(f, "{limit} pairs of locks"),
            Bound::Rings(limit) => write!(f, "{limit} rings of locks"),
            Bound::Paths(limit) => write!(f, "{limit} paths between two locks"),
        }
    }
}
