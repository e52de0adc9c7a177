//! The whole state: the nodes, the owners, and what is under way between them.

use super::ballot::{Ballot, Phase};
use super::records::{Count, Lock, Marker, Owner, Records, Ticks, Token};
use super::scripts::{Answer, Command};
use super::{Budget, Quorum};

/// The whole state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(super) now: Ticks,
    pub(super) nodes: Vec<Node>,
    pub(super) owners: Vec<Ballot>,
    /// The owners that have not begun.
    pub(super) absent: Vec<Owner>,
    /// Commands of connections that broke.
    pub(super) stray: Vec<(Owner, u8, Command)>,
    /// The largest token of a holder.
    pub(super) highest: Token,
    pub(super) budget: Budget,
    /// A rule that the last step broke.
    pub(super) breach: Option<&'static str>,
}

/// A node, and the connection of each owner to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node {
    pub(super) records: Records,
    /// How far the clock is ahead.
    pub(super) ahead: Ticks,
    pub(super) boot: u8,
    /// How often it may have lost data.
    pub(super) losses: u8,
    /// The records that a restart brings back.
    pub(super) saved: Option<Records>,
    pub(super) links: Vec<Link>,
}

impl Node {
    /// Its clock was wrong when it restarted, and no lease on it counts by that clock.
    pub(super) fn may_be_corrected(&self, now: Ticks, model: &Quorum) -> bool {
        let has_lease = |lock: Lock| lock.expires_at > now + self.ahead;
        self.ahead != model.clocks[0] && !self.records.lock.is_some_and(has_lease)
    }
}

/// A connection: one command at a time, and an `end` behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Link {
    pub(super) up: Option<Command>,
    pub(super) down: Option<Answer>,
    /// The `end` that the node has not carried out.
    pub(super) end: Option<Command>,
    /// A message that the owner has not read.
    pub(super) push: bool,
}

impl World {
    pub(super) fn new(model: &Quorum) -> World {
        let owners = model.stamps.len();
        let nodes = model.clocks.iter().map(|&ahead| Node {
            records: Records {
                marker: Some(Marker {
                    boot: 0,
                    count: None,
                }),
                ..Records::default()
            },
            ahead,
            boot: 0,
            losses: 0,
            saved: None,
            links: vec![Link::default(); owners],
        });
        let ballots = model.stamps.iter();
        let mut world = World {
            now: 0,
            nodes: nodes.collect(),
            owners: ballots
                .map(|&stamp| {
                    let times = (model.ttl, model.rules().delay);
                    Ballot::new(model.clocks.len(), stamp, times)
                })
                .collect(),
            absent: (0..owners as Owner).collect(),
            stray: Vec::new(),
            highest: 0,
            budget: model.budget,
            breach: None,
        };
        if let Some(token) = model.lost {
            world.highest = token;
            world.nodes[2].records.fence = token;
            let waited = model.rules().delay - 1;
            world.nodes[0].records.marker = Some(Marker {
                boot: 0,
                count: Some(Count { name: 0, waited }),
            });
        }
        world.reduce();
        world
    }

    /// The holders that may rely on the lock.
    pub(super) fn valid<'a>(&'a self, model: &'a Quorum) -> impl Iterator<Item = &'a Ballot> {
        let mistake = model.mistake;
        let owners = self.owners.iter();
        owners.filter(move |owner| owner.is_valid(self.now, mistake))
    }

    /// No two holders are valid at once.
    pub(super) fn is_exclusive(&self, model: &Quorum) -> bool {
        self.valid(model).count() <= 1
    }

    /// A valid holder has the largest token of all holders.
    pub(super) fn has_the_largest(&self, model: &Quorum) -> bool {
        self.valid(model)
            .all(|owner| matches!(owner.phase, Phase::Holds(token) if token >= self.highest))
    }

    /// A majority of the nodes has the lock of a valid holder.
    pub(super) fn is_backed(&self, model: &Quorum) -> bool {
        (0..).zip(&self.owners).all(|(me, owner)| {
            let backs = self.nodes.iter().filter(|node| {
                let lock = node.records.lock;
                lock.is_some_and(|lock| lock.owner == me && lock.expires_at > self.now + node.ahead)
            });
            !owner.is_valid(self.now, model.mistake) || backs.count() > self.nodes.len() / 2
        })
    }

    /// Nothing of an owner is on a node that carried out its `end` after all that came before.
    pub(super) fn has_no_phantom(&self) -> bool {
        (0..).zip(&self.owners).all(|(me, owner)| {
            owner.phase != Phase::Ended
                || (0..).zip(&self.nodes).all(|(id, node)| {
                    let link = node.links[usize::from(me)];
                    let mut stray = self.stray.iter();
                    link.end.is_some()
                        || stray.any(|&(owner, node, _)| (owner, node) == (me, id))
                        || !node.records.name(me)
                })
        })
    }

    /// Every owner has ended, and nothing is under way or left.
    pub(super) fn is_over(&self) -> bool {
        self.absent.is_empty()
            && self.stray.is_empty()
            && self.owners.iter().all(|owner| owner.phase == Phase::Ended)
            && self.nodes.iter().all(|node| {
                node.records.lock.is_none()
                    && node.records.queue.is_empty()
                    && node.links.iter().all(|link| link.end.is_none())
            })
    }

    /// Drops what makes no difference, and orders the nodes, which are alike but for their clocks.
    pub(super) fn reduce(&mut self) {
        self.stray.sort_unstable();
        for node in &mut self.nodes {
            node.records.expire(self.now + node.ahead);
        }
        let key = |world: &World, id: usize| {
            let places: Vec<_> = world.owners.iter().map(|owner| owner.nodes[id]).collect();
            let stray = world
                .stray
                .iter()
                .filter(|(_, node, _)| usize::from(*node) == id);
            let stray: Vec<_> = stray.map(|&(owner, _, command)| (owner, command)).collect();
            (world.nodes[id].clone(), places, stray)
        };
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_cached_key(|&id| key(self, id));
        if order.is_sorted() {
            return;
        }
        self.nodes = order.iter().map(|&id| self.nodes[id].clone()).collect();
        for owner in &mut self.owners {
            owner.nodes = order.iter().map(|&id| owner.nodes[id]).collect();
        }
        for (_, node, _) in &mut self.stray {
            let place = order.iter().position(|&id| id == usize::from(*node));
            *node = place.expect("every node has a place") as u8;
        }
        self.stray.sort_unstable();
    }
}
