//! The whole state: the nodes, the owners, and the messages in flight between them.

use super::owner::{self, TICK, time};
use super::records::{Count, Lock, Marker, Owner, Records, Ticks, Token};
use super::scripts::{Answer, Command};
use super::{Budget, Quorum};
use crate::backend::engine::ending::Ending;
use crate::backend::redis::quorum::Time;
use crate::backend::wire::PRESENT;
use crate::backend::wire::outstanding::{ConnectionId, Outstanding};

#[derive(Clone, Debug, Hash)]
pub struct World {
    pub(super) now: Ticks,
    pub(super) nodes: Vec<Node>,
    pub(super) owners: Vec<owner::Owner>,
    /// The owners that have not begun.
    pub(super) absent: Vec<Owner>,
    /// Commands of broken connections.
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
    /// Whether its clock was wrong at its restart, and no lease on it depends on that clock.
    pub(super) fn may_be_corrected(&self, now: Ticks, model: &Quorum) -> bool {
        let has_lease = |lock: Lock| lock.expires_at > now + self.ahead;
        self.ahead != model.clocks[0] && !self.records.lock.is_some_and(has_lease)
    }
}

/// A connection. It keeps the order of its commands, and an `end` is behind all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Link {
    pub(super) connection: ConnectionId,
    /// Commands in flight, with the time at which each was sent.
    pub(super) up: Vec<(Command, Ticks)>,
    /// Answers that the owner has not read.
    pub(super) down: Vec<(Command, Ticks, Answer)>,
    /// The end that the node has yet to carry out, perhaps once more.
    pub(super) end: Option<End>,
    /// A message that the owner has not read.
    pub(super) push: bool,
}

/// The end of an owner on a node, which the runtime's machine repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct End {
    pub(super) command: Command,
    pub(super) ending: Ending,
}

impl Default for Link {
    fn default() -> Link {
        Link {
            connection: PRESENT,
            up: Vec::new(),
            down: Vec::new(),
            end: None,
            push: false,
        }
    }
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
                .map(|&stamp| owner::Owner::new(model.clocks.len(), stamp, model.ttl))
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
        world.reduce(model);
        world
    }

    /// The holders that may rely on the lock.
    pub(super) fn valid(&self) -> impl Iterator<Item = &owner::Owner> {
        let owners = self.owners.iter();
        owners.filter(|owner| owner.is_valid(self.now))
    }

    /// No two holders are valid at once.
    pub(super) fn is_exclusive(&self) -> bool {
        self.valid().count() <= 1
    }

    /// A valid holder has the largest token of all holders.
    pub(super) fn has_the_largest(&self) -> bool {
        let mut valid = self.valid();
        valid.all(|owner| owner.token() >= Some(self.highest))
    }

    /// A majority of the nodes has the lock of a valid holder.
    pub(super) fn is_backed(&self) -> bool {
        (0..).zip(&self.owners).all(|(me, owner)| {
            let backs = self.nodes.iter().filter(|node| {
                let lock = node.records.lock;
                lock.is_some_and(|lock| lock.owner == me && lock.expires_at > self.now + node.ahead)
            });
            !owner.is_valid(self.now) || backs.count() > self.nodes.len() / 2
        })
    }

    /// No node that carried out an owner's last `end` has a trace of that owner.
    pub(super) fn has_no_phantom(&self) -> bool {
        (0..).zip(&self.owners).all(|(me, owner)| {
            !owner.has_ended()
                || (0..).zip(&self.nodes).all(|(id, node)| {
                    let link = &node.links[usize::from(me)];
                    let mut stray = self.stray.iter();
                    link.end.is_some()
                        || stray.any(|&(owner, node, _)| (owner, node) == (me, id))
                        || !node.records.name(me)
                })
        })
    }

    /// Every owner has ended, and nothing is in flight or left.
    pub(super) fn is_over(&self) -> bool {
        self.absent.is_empty()
            && self.stray.is_empty()
            && self.owners.iter().all(owner::Owner::has_ended)
            && self.nodes.iter().all(|node| {
                node.records.lock.is_none()
                    && node.records.queue.is_empty()
                    && node.links.iter().all(|link| link.end.is_none())
            })
    }

    /// Drops irrelevant state, and sorts the nodes, which differ only in their clocks.
    pub(super) fn reduce(&mut self, model: &Quorum) {
        let left = if self.now < model.horizon {
            Time::Ticks(TICK)
        } else {
            Time::IsOver
        };
        self.stray.sort_unstable();
        for (id, node) in self.nodes.iter_mut().enumerate() {
            node.records.expire(self.now + node.ahead);
            for (link, owner) in node.links.iter_mut().zip(&mut self.owners) {
                let present = std::mem::replace(&mut link.connection, PRESENT);
                let has_ended = owner.has_ended();
                // The start of a vote's lease no longer matters.
                let votes = link.up.iter_mut().filter(|_| !owner.acquires());
                for (_, at) in votes.filter(|(command, _)| has_ended || !command.renews()) {
                    *at = 0;
                }
                let outstanding = &mut owner.ballot.place_mut(id).outstanding;
                outstanding.reduce(present, has_ended, false);
                match &mut link.end {
                    Some(End { ending, .. }) => ending.reduce(),
                    None if has_ended => *outstanding = Outstanding::default(),
                    None => {}
                }
            }
        }
        for owner in &mut self.owners {
            owner.ballot.reduce(time(self.now), left);
            if owner.token().is_none() {
                owner.lease = 0;
            }
        }
        let key = |world: &World, id: usize| {
            let owners = world.owners.iter();
            let places: Vec<_> = owners.map(|owner| owner.fingerprint_of(id)).collect();
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
            owner.order_nodes(&order);
        }
        for (_, node, _) in &mut self.stray {
            let place = order.iter().position(|&id| id == usize::from(*node));
            *node = place.expect("every node has a place") as u8;
        }
        self.stray.sort_unstable();
    }
}
