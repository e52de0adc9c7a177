//! Recovery: what follows a state without further faults, where every client does what is due in each tick.

use super::caller::Phase;
use super::{Several, Step, World};

/// More ticks than leases, claims and heartbeats of all callers take, one after another.
const RECOVERY_TICKS: usize = 60;

/// Whether every call is served, and no record is left. Callers that wait for each other fail this.
pub(super) fn ends_well(model: &Several, world: &World) -> bool {
    let mut world = world.clone();
    for _ in 0..RECOVERY_TICKS {
        if world.is_over() {
            return true;
        }
        let mut polled = Vec::new();
        while let Some(step) = next(&world, &polled) {
            if let Step::Poll(id) | Step::EndAgain(id, _) = step {
                polled.push(id);
            }
            world.step(step, model);
        }
        world.step(Step::Tick, model);
        world.reduce();
    }
    false
}

/// What is due next. Each caller polls once a tick, or ends one owner again.
fn next(world: &World, polled: &[u8]) -> Option<Step> {
    (0..).zip(&world.callers).find_map(|(id, caller)| {
        if !caller.stray.is_empty() {
            return Some(Step::DeliverStray(id));
        }
        if !caller.up.is_empty() {
            return Some(Step::Deliver(id));
        }
        if !caller.alive {
            return None;
        }
        if !caller.down.is_empty() {
            return Some(Step::Receive(id));
        }
        if caller.calls_left > 0 && caller.owners.is_empty() {
            return Some(Step::Arrive(id));
        }
        caller.owners.iter().find_map(|owner| match &owner.phase {
            Phase::Held(_, lease) if lease.deadline == 0 => Some(Step::Lose(id)),
            Phase::Held(_, lease) if lease.inside => Some(Step::Finish(id)),
            Phase::Held(..) => Some(Step::Start(id)),
            _ if polled.contains(&id) || owner.awaits => None,
            Phase::Waits(_) => Some(Step::Poll(id)),
            Phase::Ending(..) => Some(Step::EndAgain(id, owner.number)),
        })
    })
}
