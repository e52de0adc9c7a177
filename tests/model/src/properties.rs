//! The properties that must hold in every state.

use crate::audit::Breach;
use crate::client::{Body, Client, Lease};
use crate::configuration::{Class, Configuration};
use crate::explore::Property;
use crate::network::Incoming;
use crate::recovery;
use crate::server::{Lock, OwnerId, Ticks, Value};
use crate::world::{World, inside};

/// Exclusion.
pub const EXCLUSION: &str = "no two bodies run within their deadlines";
/// The deadline that a holder counts on is never after the server's expiry.
pub const DEADLINE: &str = "no holder relies on the lock for longer than the server keeps it";
/// A forgotten owner neither holds nor queues.
pub const PHANTOM: &str = "nothing is left of a forgotten owner";
/// Where exclusion cannot be kept, tokens order the holders.
pub const FENCED: &str = "the server's holder has the highest token of all bodies";
/// A lease is retained only while no waiter is known to queue for it.
pub const UNCONTENDED: &str = "a retained lease is not contended, as far as its client knows";
/// A lease is retained only while its client gets messages, and from the server that granted it.
pub const CONNECTED: &str = "a retained lease was granted on its client's present connection";
/// Every fault is recovered from without help.
pub const RECOVERY: &str = "without further faults every call is served and no record is left";

/// A configuration without exclusion shows two bodies at once.
pub(crate) const UNFENCED: &str = "two bodies run, and only their tokens tell them apart";
/// A configuration with retained leases contains some that are taken.
pub(crate) const TAKEN: &str = "a lease is retained, taken and retained again";
/// A configuration in which announcements are ignored contains such announcements.
pub(crate) const UNKNOWN: &str = "an announcement names an owner that its client has forgotten";
/// A configuration contains the faults of its budget.
pub(crate) const SEEN: &str = "every fault of the budget has happened, and every client is idle";

/// The properties of a configuration: invariants, breaches, and states that must be seen. An exploration
/// without these would show nothing.
pub(crate) fn of(configuration: &Configuration) -> Vec<Property<Configuration>> {
    let mut properties = match configuration.class {
        Class::Exclusive => vec![
            Property::always(EXCLUSION, |_, world, _| is_exclusive(world)),
            Property::always(DEADLINE, |_, world, _| is_backed(world)),
            Property::always(PHANTOM, |_, world, _| has_no_phantom(world)),
        ],
        Class::Fenced => vec![
            Property::always(FENCED, |_, world, _| is_fenced(world)),
            Property::sometimes(UNFENCED, |_, world, _| !is_exclusive(world)),
        ],
    };
    if configuration.retain > 0 {
        properties.push(Property::always(UNCONTENDED, |_, world, _| {
            is_uncontended(world)
        }));
        properties.push(Property::always(CONNECTED, |_, world, _| {
            is_connected(world)
        }));
    }
    if configuration.forgets {
        properties.push(Property::sometimes(UNKNOWN, |_, world: &World, _| {
            world.clients.iter().any(is_unknown_announced)
        }));
    }
    if configuration.retain > 0 && configuration.mixed == 0 {
        properties.push(Property::sometimes(TAKEN, |_, world, _| {
            is_taken_again(world)
        }));
    }
    properties.push(Property::sometimes(SEEN, |_, world: &World, _| {
        world.budget.is_spent() && world.clients.iter().all(Client::is_idle)
    }));
    if configuration.recovers.is_some() {
        properties.push(Property::always(RECOVERY, recovery::recovers));
    }
    let mut rules = Breach::ALL.to_vec();
    if configuration.class == Class::Fenced {
        // A holder that does not know of its loss may begin a body, with a token that is refused.
        rules.retain(|&rule| rule != Breach::TurnToken && rule != Breach::Bypassed);
    }
    properties.extend(rules.into_iter().map(never));
    properties
}

fn never(breach: Breach) -> Property<Configuration> {
    Property::always(breach.rule(), move |_, world: &World, _| {
        !world.breaches.has(breach)
    })
}

fn is_uncontended(world: &World) -> bool {
    leases(world).all(|(_, lease)| lease.body != Body::Over || !lease.contended)
}

fn is_connected(world: &World) -> bool {
    leases(world).all(|(_, lease)| lease.body != Body::Over || !lease.torn)
}

fn is_unknown_announced(client: &Client) -> bool {
    let next = client.connection.down.first();
    matches!(next, Some(&Incoming::Push(number)) if client.find(number).is_none())
}

fn is_taken_again(world: &World) -> bool {
    let mut leases = leases(world);
    leases.any(|(_, lease)| lease.body == Body::Over && lease.turn > 0)
}

fn is_exclusive(world: &World) -> bool {
    world.clients.iter().flat_map(inside).count() <= 1
}

/// Whether the local deadline is never after the server's expiry, until the release.
fn is_backed(world: &World) -> bool {
    let Some((holder, rest)) = holder(world) else {
        return leases(world).all(|(_, lease)| lease.deadline == 0);
    };
    leases(world).all(|(owner, lease)| {
        lease.deadline == 0 || owner == holder && rest.is_none_or(|rest| rest >= lease.deadline)
    })
}

fn holder(world: &World) -> Option<(OwnerId, Option<Ticks>)> {
    match world.records.lock? {
        Lock {
            value: Value::Ours { owner, .. },
            rest,
        } => Some((owner, rest)),
        _ => None,
    }
}

fn leases(world: &World) -> impl Iterator<Item = (OwnerId, &Lease)> {
    (0..).zip(&world.clients).flat_map(|(client, state)| {
        let name = move |number| OwnerId { client, number };
        state
            .leases()
            .map(move |(number, lease)| (name(number), lease))
    })
}

/// Whether every owner in the records is known to its client, or belongs to a dead client.
fn has_no_phantom(world: &World) -> bool {
    let is_known = |owner: OwnerId| {
        let client = &world.clients[usize::from(owner.client)];
        !client.alive || client.find(owner.number).is_some()
    };
    world.records.holder().is_none_or(is_known)
        && world
            .records
            .queue
            .entries()
            .iter()
            .all(|entry| !entry.is_live() || is_known(entry.owner))
}

/// Whether the present holder's token is above those of all other holders. A resource that refuses tokens
/// below the highest it has seen then refuses all stale writes, once that holder has written.
fn is_fenced(world: &World) -> bool {
    let Some((owner, _)) = holder(world) else {
        return true;
    };
    let Some((_, present)) = leases(world).find(|&(other, _)| other == owner) else {
        return true;
    };
    leases(world).all(|(other, lease)| other == owner || lease.token < present.token)
}
