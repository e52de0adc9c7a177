//! Recovery: continues a state without further faults.
//!
//! A checker of states can only see that bad things do not happen. Recovery checks that good things
//! do. It continues a state without faults: in each tick, every client does the work that is due,
//! in a fixed order. Every call of a live client must then be served, and no record may remain in
//! Redis.

use crate::canonical;
use crate::client::{Body, Phase};
use crate::configuration::Configuration;
use crate::moves::Source;
use crate::seeded::Seeded;
use crate::server::{Lock, Mode, OwnerId, Records};
use crate::world::{Action, World};

/// More ticks than any recovery takes: leases, claims and heartbeats of all clients, one after another.
const RECOVERY_TICKS: usize = 60;

/// The clients that do the work that is due.
#[derive(Default)]
pub(crate) struct Course {
    /// This client does nothing, but the commands it has sent arrive.
    pub(crate) paused: Option<u8>,
    /// These owners stay as they are.
    pub(crate) stay: Vec<OwnerId>,
    /// No further callers arrive.
    pub(crate) is_closed: bool,
}

/// Whether a state recovers. Only a sample of the states is checked, chosen by their fingerprints.
pub(crate) fn recovers(configuration: &Configuration, world: &World, fingerprint: u64) -> bool {
    let every = configuration.recovers.unwrap_or(1);
    if !fingerprint.is_multiple_of(every) {
        return true;
    }
    ends_well(configuration, world)
}

pub(crate) fn ends_well(configuration: &Configuration, world: &World) -> bool {
    let mut world = world.clone();
    if world.mode != Mode::Normal {
        world.repair();
    }
    if let Some(Source::Moving(_)) = world.source {
        world.settle_slot(configuration);
    }
    // A lock without an expiry is deleted by its owner.
    if let Some(Lock { rest, .. }) = &mut world.records.lock {
        rest.get_or_insert(configuration.ttl);
    }
    for _ in 0..RECOVERY_TICKS {
        if is_over(&world) {
            return true;
        }
        one_tick(&mut world, configuration, &Course::default());
        canonical::reduce(&mut world, configuration);
    }
    false
}

fn is_over(world: &World) -> bool {
    let is_free = |records: &Records| {
        records.lock.is_none() && records.shares.is_none() && records.queue.entries().is_empty()
    };
    world.clients.iter().all(|client| client.is_idle()) && world.locks().all(is_free)
}

/// Every client of the course does the work that is due, then time passes.
pub(crate) fn one_tick(world: &mut World, configuration: &Configuration, course: &Course) {
    let mut polled = Vec::new();
    while let Some(action) = next(world, configuration, course, &polled) {
        if matches!(action, Action::Poll(..) | Action::EndAgain(..)) {
            polled.push(action);
        }
        world.step(action, configuration);
    }
    world.step(Action::Tick, configuration);
}

/// The next action that is due; each waiter polls once in a tick.
fn next(
    world: &World,
    configuration: &Configuration,
    course: &Course,
    polled: &[Action],
) -> Option<Action> {
    for (id, client) in (0..).zip(&world.clients) {
        let is_paused = course.paused == Some(id);
        if client.alive && !is_paused && world.may_notice(client) {
            return Some(Action::NoticeTakeover(id));
        }
        if !client.connection.stray.is_empty() {
            return Some(Action::DeliverStray(id));
        }
        if !client.connection.up.is_empty() {
            return Some(Action::Deliver(id));
        }
        if !client.alive {
            if client.subscribed {
                return Some(Action::Notice(id));
            }
            continue;
        }
        if is_paused {
            continue;
        }
        if !client.connection.down.is_empty() {
            return Some(Action::Receive(id));
        }
        for owner in &client.owners {
            let number = owner.number;
            if course.stay.contains(&OwnerId { client: id, number }) {
                continue;
            }
            let due = match &owner.phase {
                Phase::Competing(_) if !owner.awaits_reply => Action::Poll(id, number),
                Phase::Ending(_) if !owner.awaits_reply => Action::EndAgain(id, number),
                Phase::Held(lease) if lease.body == Body::Over => {
                    let is_kept = configuration.seeded == Some(Seeded::RetainedForever);
                    if lease.retained > 0 || is_kept {
                        continue;
                    }
                    Action::EndRetained(id, number)
                }
                Phase::Held(lease) if lease.holding.is_unconfirmed() && lease.is_valid() => {
                    Action::Confirm(id, number)
                }
                Phase::Held(lease) if lease.body == Body::Inside && lease.is_valid() => {
                    Action::Finish(id, number)
                }
                Phase::Held(lease) if lease.is_valid() => Action::Start(id, number),
                Phase::Held(lease) if lease.deadline == 0 && !lease.lost => {
                    Action::Lose(id, number)
                }
                Phase::Held(lease) if lease.body == Body::Inside => Action::Finish(id, number),
                _ => continue,
            };
            if !polled.contains(&due) {
                return Some(due);
            }
        }
        if course.is_closed {
            continue;
        }
        if client.may_call() {
            return Some(Action::Arrive(id));
        }
        if !client.shares_left.is_empty() {
            return Some(Action::ArriveToShare(id));
        }
    }
    None
}
