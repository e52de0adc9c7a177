//! The edges between classes.

use std::collections::HashSet;

use foldhash::HashMap;

use super::access::Wait;
use super::class::ClassId;
use super::crossing::Crossing;
use super::crossing::Step;

/// The edges between classes, each with the calls that first took the two locks in this order, and with calls that hold
/// or wait in a stronger way.
#[derive(Debug, Default)]
pub(super) struct Edges {
    crossings: HashMap<(ClassId, ClassId), Vec<Crossing>>,
    /// How many edges have a nested crossing, and how many have another.
    nested: usize,
    together: usize,
    after: HashMap<ClassId, Vec<ClassId>>,
    before: HashMap<ClassId, Vec<ClassId>>,
}

impl Edges {
    /// The number of edges that have a crossing like this.
    pub(super) fn len(&self, step: Step) -> usize {
        match step {
            Step::Nested => self.nested,
            Step::Together => self.together,
        }
    }

    pub(super) fn is_there(&self, edge: (ClassId, ClassId)) -> bool {
        self.crossings.contains_key(&edge)
    }

    /// Returns whether the known crossings already close every ring that this one would close.
    pub(super) fn cover(&self, edge: (ClassId, ClassId), crossing: &Crossing) -> bool {
        let known = self.crossings.get(&edge);
        known.is_some_and(|known| known.iter().any(|known| known.covers(crossing)))
    }

    pub(super) fn insert(&mut self, (from, to): (ClassId, ClassId), crossing: Crossing) {
        let crossings = self.crossings.entry((from, to)).or_default();
        if crossings.is_empty() {
            self.after.entry(from).or_default().push(to);
            self.before.entry(to).or_default().push(from);
        }
        if crossings.iter().all(|known| known.step != crossing.step) {
            match crossing.step {
                Step::Nested => self.nested += 1,
                Step::Together => self.together += 1,
            }
        }
        crossings.push(crossing);
    }

    pub(super) fn after(&self, class: ClassId) -> &[ClassId] {
        self.after.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Returns the crossings of an edge to try for a path that waits for the edge's first lock like this. A call that
    /// waits for all holders also waits for a writer, so the strongest crossing is enough, unless the path needs a
    /// nested one.
    pub(super) fn ways(
        &self,
        edge: (ClassId, ClassId),
        wait: Wait,
        needs: Step,
    ) -> impl Iterator<Item = &Crossing> {
        let known = self.crossings.get(&edge).map_or(&[][..], Vec::as_slice);
        let strongest = |step: Step| {
            let fits = |way: &&Crossing| way.step >= step && wait.is_blocked_by(way.hold);
            let fitting = known.iter().rev().filter(fits);
            fitting.max_by_key(|way| (way.wait, way.step))
        };
        let first = strongest(Step::Together);
        let is_enough = first.is_none_or(|first| first.step >= needs);
        let second = if is_enough { None } else { strongest(needs) };
        first.into_iter().chain(second)
    }

    /// Returns the class, and all classes with a path of edges to it.
    pub(super) fn leading_to(&self, class: ClassId) -> HashSet<ClassId> {
        let mut found = HashSet::from([class]);
        let mut open = vec![class];
        while let Some(next) = open.pop() {
            let before = self.before.get(&next).into_iter().flatten();
            open.extend(before.filter(|before| found.insert(**before)));
        }
        found
    }
}
