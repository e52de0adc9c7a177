//! Continues a state without further faults, with all nodes or without some.

use super::records::{Owner, Ticks};
use super::world::World;
use super::{Quorum, Step};

/// More than two owners need, each with a claim, a node without a vote and a dead owner's lease to
/// wait for.
const ROUNDS: usize = 40;
/// More messages in one tick are a livelock.
const MESSAGES: usize = 100;

/// Whether every owner is served, and no record is left.
pub(super) fn ends_well(model: &Quorum, world: &World) -> bool {
    let mut run = Run::new(model, world, Vec::new());
    run.serves_all() && run.leaves_nothing()
}

/// Whether every owner is served while `away` answers nothing, and no record is left on the other nodes.
pub(super) fn ends_well_without(model: &Quorum, world: &World, away: usize) -> bool {
    let mut run = Run::new(model, world, vec![away]);
    run.serves_all() && run.leaves_nothing()
}

/// Whether no owner holds for longer than a ttl while all nodes but one are away, and the owners
/// that give up then leave nothing once the nodes are back.
pub(super) fn is_bounded(model: &Quorum, world: &World) -> bool {
    let nodes = 0..model.clocks.len();
    nodes.clone().all(|left| {
        let away = nodes.clone().filter(|&node| node != left);
        let mut run = Run::new(model, world, away.collect());
        for _ in 0..=model.ttl {
            run.exchange(false);
            run.apply(Step::Tick);
        }
        let holds = run.world.valid().count() > 0;
        for owner in 0..run.world.owners.len() {
            if !run.world.owners[owner].has_ended() {
                run.world.end(owner as Owner);
            }
        }
        run.away.clear();
        !holds && run.serves_all() && run.leaves_nothing()
    })
}

/// A run in a fixed order.
struct Run<'a> {
    model: &'a Quorum,
    world: World,
    away: Vec<usize>,
}

impl<'a> Run<'a> {
    fn new(model: &'a Quorum, world: &World, away: Vec<usize>) -> Run<'a> {
        let mut run = Run {
            model,
            world: world.clone(),
            away,
        };
        while !run.world.stray.is_empty() {
            run.apply(Step::DeliverStray(0));
        }
        run.cut_off();
        for owner in run.world.absent.clone() {
            run.apply(Step::Arrive(owner));
        }
        run
    }

    fn apply(&mut self, step: Step) {
        // Nodes keep their places, which identify the nodes that are away.
        self.world.step(step, self.model);
    }

    /// Drops everything in flight to a node that is away.
    fn cut_off(&mut self) {
        for &node in &self.away {
            for owner in 0..self.world.owners.len() {
                self.world.tear(owner as Owner, node as u8, false);
            }
        }
    }

    /// Runs until every owner has ended. In each tick, every waiter polls every node.
    fn serves_all(&mut self) -> bool {
        for _ in 0..ROUNDS {
            if !self.exchange(true) {
                return false;
            }
            let mut owners = self.world.owners.iter();
            if owners.all(super::owner::Owner::has_ended) {
                return true;
            }
            self.apply(Step::Tick);
        }
        false
    }

    /// Delivers one tick's messages. Returns whether they come to an end.
    fn exchange(&mut self, releases: bool) -> bool {
        for owner in 0..self.world.owners.len() as Owner {
            self.world.begin_attempt(owner);
        }
        for _ in 0..MESSAGES {
            self.cut_off();
            let Some(step) = self.next_message(releases) else {
                return true;
            };
            self.apply(step);
        }
        false
    }

    fn next_message(&self, releases: bool) -> Option<Step> {
        let nodes = self.world.nodes.iter().enumerate();
        for (node, site) in nodes.filter(|(node, _)| !self.away.contains(node)) {
            for (owner, link) in (0..).zip(&site.links) {
                if !link.down.is_empty() {
                    return Some(Step::Receive(owner, node as u8));
                }
                if link.push {
                    return Some(Step::ReadPush(owner, node as u8));
                }
                if !link.up.is_empty() || link.end.is_some() {
                    return Some(Step::Deliver(owner, node as u8));
                }
            }
        }
        let mut owners = (0..).zip(&self.world.owners);
        let holder = owners.find(|(_, owner)| owner.token().is_some());
        holder
            .filter(|_| releases)
            .map(|(owner, _)| Step::Release(owner))
    }

    /// Whether no record is left once everything has expired.
    fn leaves_nothing(&mut self) -> bool {
        let rules = self.model.rules();
        let longest: Ticks = self.model.ttl.max(rules.claim).max(rules.live);
        let time_is_over = self.world.now + longest;
        let nodes = self.world.nodes.iter_mut().enumerate();
        let mut here = nodes.filter(|(node, _)| !self.away.contains(node));
        here.all(|(_, site)| {
            site.records.expire(time_is_over + site.ahead);
            site.records.lock.is_none() && site.records.queue.is_empty()
        })
    }
}
