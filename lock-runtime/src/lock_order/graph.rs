//! Learns the locking order of one client's calls.

use std::collections::HashSet;

use smallvec::SmallVec;

use super::bounds::{Bound, Bounds};
use super::chain::{Chain, Taken};
use super::class::Origin;
use super::class::{Class, ClassId, Classes};
use super::crossing::Crossing;
use super::crossing::Step;
use super::edges::Edges;
use super::key_lists::KeyLists;
use super::key_pairs::KeyPairs;
use super::ring::{Edge, Ring};
use super::search::{self, Extent};

/// The locking order of one client's calls.
#[derive(Debug)]
pub(crate) struct Graph {
    bounds: Bounds,
    policy: Policy,
    classes: Classes,
    edges: Edges,
    pairs: KeyPairs,
    lists: KeyLists,
    /// The classes of each ring that was reported, from the lowest one on.
    reported: HashSet<Vec<ClassId>>,
    /// The bounds that were reached.
    reached: Vec<Bound>,
}

/// Whether a call that closes a ring is only reported, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Report,
    Refuse,
}

/// A lock that a call tree holds or asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock<'a> {
    pub(crate) class: Class<'a>,
    pub(crate) key: &'a str,
}

/// A call that waits for one lock while it, or its call tree, holds another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'a> {
    pub(crate) held: Lock<'a>,
    pub(crate) asked: Lock<'a>,
    pub(crate) crossing: Crossing,
}

/// New findings, to be reported once.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) rings: Vec<Ring>,
    pub(crate) reached: Vec<Bound>,
}

/// The verdict about a call.
#[derive(Debug)]
#[must_use]
pub(crate) enum Verdict {
    Goes,
    /// It closes this ring.
    Refused(Ring),
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new(Bounds::DEFAULT)
    }
}

impl Graph {
    pub(super) fn new(bounds: Bounds) -> Graph {
        Graph {
            bounds,
            policy: Policy::Report,
            classes: Classes::default(),
            edges: Edges::default(),
            pairs: KeyPairs::default(),
            lists: KeyLists::default(),
            reported: HashSet::new(),
            reached: Vec::new(),
        }
    }

    /// Refuses calls that close a ring, from now on. Their edges are not remembered, so that the next such call is
    /// refused, too.
    pub(crate) fn refuse_rings(&mut self) {
        self.policy = Policy::Refuse;
    }

    /// Looks up a link. Remembers the edge of a new one, and adds the rings that it closes to the news.
    pub(crate) fn see(&mut self, link: &Link<'_>, news: &mut News) -> Verdict {
        let held = self.classes.find(link.held.class);
        let asked = self.classes.find(link.asked.class);
        if let Some(edge) = held.zip(asked)
            && self.edges.cover(edge, &link.crossing)
        {
            return Verdict::Goes;
        }
        match self.edge(link) {
            Ok((held, asked)) if held == asked => self.see_keys(held, link, news),
            Ok(edge) => self.add(edge, link.crossing, news),
            Err(bound) => {
                self.reach(bound, news);
                Verdict::Goes
            }
        }
    }

    /// The classes of a link, if there is room for an edge between them.
    fn edge(&mut self, link: &Link<'_>) -> Result<(ClassId, ClassId), Bound> {
        let held = self.classes.number(link.held.class, &self.bounds)?;
        let asked = self.classes.number(link.asked.class, &self.bounds)?;
        let edge = (held, asked);
        if held != asked {
            self.room_for(edge, link.crossing.step)?;
        }
        Ok(edge)
    }

    fn room_for(&self, edge: (ClassId, ClassId), step: Step) -> Result<(), Bound> {
        let origins = [edge.0, edge.1].map(|class| self.classes.get(class).origin);
        let limit = self.bounds.edges_between(origins);
        if self.edges.len(step) < limit || self.edges.is_there(edge) {
            Ok(())
        } else {
            Err(Bound::Edges(limit))
        }
    }

    /// Looks up a call that takes several locks in this order. If it is refused, returns the first ring that it closes,
    /// and the index of the lock that closes it.
    ///
    /// A program may have many such calls and nest nothing, so calls beyond a bound are ignored silently. A key that
    /// stands for its class is ignored, too, until it is nested.
    pub(crate) fn see_together<'a>(
        &mut self,
        locks: impl Iterator<Item = Lock<'a>>,
        crossing: Crossing,
        news: &mut News,
    ) -> Option<(usize, Ring)> {
        let known = locks.enumerate().filter_map(|(place, lock)| {
            let class = match lock.class.origin {
                Origin::Code => self.classes.number(lock.class, &self.bounds).ok(),
                Origin::Key => self.classes.find(lock.class),
            };
            let key = self.pairs.hash(lock.key);
            Some(Taken::new(place, class?, lock.class.text, key))
        });
        let chain = Chain::new(known);
        let mut refusal = None;
        for (held, asked) in chain.edges() {
            let edge = (held.class, asked.class);
            let is_known = self.edges.cover(edge, &crossing);
            if !is_known
                && self.room_for(edge, crossing.step).is_ok()
                && let Verdict::Refused(ring) = self.add(edge, crossing, news)
            {
                refusal.get_or_insert((asked.place, ring));
            }
        }
        for keys in chain.keys_of_one_class() {
            if let Some(refused) = self.see_list(&keys, crossing, news) {
                refusal.get_or_insert(refused);
            }
        }
        refusal
    }

    fn add(&mut self, edge: (ClassId, ClassId), crossing: Crossing, news: &mut News) -> Verdict {
        let verdict = if self.is_searched(crossing.step) {
            self.search(edge, crossing, news)
        } else {
            Verdict::Goes
        };
        if matches!(verdict, Verdict::Goes) {
            self.edges.insert(edge, crossing);
        }
        verdict
    }

    /// Returns whether a search is worth it: a ring must be possible, and would be reported or refused.
    fn is_searched(&self, step: Step) -> bool {
        let full = Bound::Rings(self.bounds.rings);
        (step == Step::Nested || self.edges.len(Step::Nested) > 0)
            && (self.policy == Policy::Refuse || !self.reached.contains(&full))
    }

    fn search(&mut self, edge: (ClassId, ClassId), crossing: Crossing, news: &mut News) -> Verdict {
        let closed = search::rings(&self.edges, edge, crossing, &self.bounds);
        if closed.extent == Extent::Part {
            self.reach(Bound::Paths(self.bounds.paths), news);
        }
        let closed = closed.rings.into_iter();
        let closed = closed.map(|path| self.ring(&path)).collect();
        self.judge(closed, news)
    }

    /// Looks up two keys of one class, one nested in the other.
    fn see_keys(&mut self, class: ClassId, link: &Link<'_>, news: &mut News) -> Verdict {
        let pair = self.pairs.pair(class, link.held.key, link.asked.key);
        let crossing = link.crossing;
        if self.is_told(class) || self.pairs.cover(pair, &crossing) {
            return Verdict::Goes;
        }
        let nested = self.pairs.reverse(pair, &crossing);
        let reverse = nested.or_else(|| self.lists.reverse(pair));
        let verdict = self.judge_keys(class, crossing, reverse, news);
        if matches!(verdict, Verdict::Goes) {
            self.pairs.insert(pair, crossing, self.bounds.pairs);
        }
        verdict
    }

    /// Looks up the keys of one class that one call takes, in this order.
    fn see_list(
        &mut self,
        locks: &[Taken<'_>],
        crossing: Crossing,
        news: &mut News,
    ) -> Option<(usize, Ring)> {
        let class = locks[0].class;
        let keys: SmallVec<[u64; 32]> = locks.iter().map(|lock| lock.key).collect();
        if self.is_told(class) || self.lists.is_known(class, &keys) {
            return None;
        }
        let (place, reverse) = self.pairs.reverse_of_list(class, &keys).unzip();
        match self.judge_keys(class, crossing, reverse, news) {
            Verdict::Goes => {
                let limit = self.bounds.listed_keys;
                self.lists.insert(class, &keys, crossing, limit);
                None
            }
            Verdict::Refused(ring) => place.map(|place| (locks[place].place, ring)),
        }
    }

    /// Whether the ring of this class was reported, and is not refused.
    fn is_told(&self, class: ClassId) -> bool {
        self.policy == Policy::Report && self.reported.contains(&[class][..])
    }

    /// Judges a call that takes two keys of one class, if `reverse` takes them the other way round.
    fn judge_keys(
        &mut self,
        class: ClassId,
        crossing: Crossing,
        reverse: Option<Crossing>,
        news: &mut News,
    ) -> Verdict {
        let closed = reverse.map(|reverse| {
            let ring = self.edges_of(&[(class, crossing), (class, reverse)]);
            (vec![class], ring)
        });
        self.judge(closed.into_iter().collect(), news)
    }

    /// Returns the classes of a ring, starting with the lowest one, and the ring.
    fn ring(&self, path: &[(ClassId, Crossing)]) -> (Vec<ClassId>, Ring) {
        let mut classes: Vec<_> = path.iter().map(|(class, _)| *class).collect();
        let lowest = classes.iter().enumerate().min_by_key(|(_, class)| **class);
        let lowest = lowest.map_or(0, |(place, _)| place);
        classes.rotate_left(lowest);
        (classes, self.edges_of(path))
    }

    fn edges_of(&self, path: &[(ClassId, Crossing)]) -> Ring {
        let next = path.iter().cycle().skip(1);
        let edges = path.iter().zip(next);
        let edges = edges.map(|((held, crossing), (asked, _))| Edge {
            held: self.classes.get(*held).clone(),
            asked: self.classes.get(*asked).clone(),
            crossing: *crossing,
        });
        Ring::new(edges.collect())
    }

    /// Adds to the news the rings that were not reported before.
    fn judge(&mut self, closed: Vec<(Vec<ClassId>, Ring)>, news: &mut News) -> Verdict {
        let first = closed.first().map(|(_, ring)| ring.clone());
        for (classes, ring) in closed {
            if self.reported.contains(&classes) {
                continue;
            }
            if self.reported.len() >= self.bounds.rings {
                self.reach(Bound::Rings(self.bounds.rings), news);
                break;
            }
            self.reported.insert(classes);
            news.rings.push(ring);
        }
        match (self.policy, first) {
            (Policy::Refuse, Some(ring)) => Verdict::Refused(ring),
            _ => Verdict::Goes,
        }
    }

    fn reach(&mut self, bound: Bound, news: &mut News) {
        if !self.reached.contains(&bound) {
            self.reached.push(bound);
            news.reached.push(bound);
        }
    }
}

#[cfg(test)]
mod tests;
