//! The properties that must hold in every state.

use crate::admission;
use crate::audit::Breach;
use crate::client::{Body, Client, Lease, Phase};
use crate::configuration::{Class, Configuration};
use crate::explore::Property;
use crate::faults::Fault;
use crate::moves::Source;
use crate::network::{Incoming, Server};
use crate::recovery;
use crate::server::{Ours, OwnerId, QueueEntry, Records, Shares, Ticks, Token};
use crate::world::{World, inside};

pub const EXCLUSION: &str = "no two bodies run within their deadlines";
/// The holder's local deadline is never after the server's expiry.
pub const DEADLINE: &str = "no holder relies on the lock for longer than the server keeps it";
/// A forgotten owner neither holds nor queues.
pub const PHANTOM: &str = "nothing is left of a forgotten owner";
/// Where exclusion cannot be kept, tokens order the holders.
pub const FENCED: &str = "the server's holder has the highest token of all bodies";
/// A lease is retained only while no waiter is known to queue for it.
pub const UNCONTENDED: &str = "a retained lease is not contended, as far as its client knows";
/// A lease is retained only while its client gets messages, and from the server that granted it.
pub const CONNECTED: &str = "a retained lease was granted on its client's present connection";
/// Every caller of a local queue has its turn.
pub const ONE_HEAD: &str =
    "a local queue with a head has one owner that will promote the next caller";
/// The record of the shares is right.
pub const COUNTED: &str = "the shares of a lock take what their record says";
/// A lock and its last share end together.
pub const AS_LONG: &str = "a shared lock lasts until its last share lapses, and no longer";
/// A lock that becomes a share was not lost before.
pub const UNBROKEN: &str = "a lock that becomes a share is held without a gap";
/// A reserved lock stays taken for its minimum.
pub const MINIMUM: &str = "a reserved lock stays taken until its minimum is over, and no longer";
/// A holder learns of its loss as soon as it notices a move, and asks.
pub const INFORMED: &str =
    "a holder without the lock has not noticed a move, or is asking whether it still holds";
/// No client uses a replaced server indefinitely.
pub const NOTICED: &str = "no client uses a server for longer than it takes to notice another one";
/// Records that a failover brought back do not last.
pub const BROUGHT_BACK: &str = "what a failover brought back is over after its time";
/// Every fault is recovered from without help.
pub const RECOVERY: &str = "without further faults every call is served and no record is left";

/// No waiter, dead or paused, blocks the waiters that could be inside.
pub const LET_IN: &str = "whoever could be inside gets in within a bounded time";

/// A configuration without exclusion shows two bodies at once.
pub(crate) const UNFENCED: &str = "two bodies run, and only their tokens tell them apart";
/// Where tokens cannot order the holders, the limit is real.
pub(crate) const UNORDERED: &str = "a holder that the server does not know of has no lower token";
/// A configuration with retained leases contains some that are taken.
pub(crate) const TAKEN: &str = "a lease is retained, taken and retained again";
/// A configuration in which announcements are ignored contains such announcements.
pub(crate) const UNKNOWN: &str = "an announcement names an owner that its client has forgotten";
/// A configuration with several shares contains some at once.
pub(crate) const SHARED: &str = "two bodies share the lock";
/// A configuration with a minimum contains a waiter that waits for it.
pub(crate) const RESERVED: &str = "a waiter waits for a reserved lock";
/// A configuration with downgrades contains one that succeeds.
pub(crate) const DOWNGRADED: &str = "a lock has become a share";
/// A configuration with plain commands and a crash contains one that overtakes a waiter.
pub(crate) const PAST_A_WAITER: &str = "a lock was taken past a live waiter";
/// A configuration with a moving slot contains a holder during the move.
pub(crate) const HELD_MEANWHILE: &str = "a slot has moved while its lock was held and awaited";
/// A configuration with a failover contains records that it should not have restored.
pub(crate) const RESURRECTED: &str = "a failover brought back an owner that had ended";
/// A configuration with several locks contains a caller that holds only some of them.
pub(crate) const IN_PART: &str = "a caller has one lock and waits for the next";
/// A configuration contains the faults of its budget.
pub(crate) const SEEN: &str = "every fault of the budget has happened, and every client is idle";

/// The properties of a configuration: invariants, breaches, and states that must be seen. An
/// exploration without the last kind would prove nothing.
pub(crate) fn of(configuration: &Configuration) -> Vec<Property<Configuration>> {
    let is_exclusion = configuration.class == Class::Exclusive;
    let allows = |fault| configuration.budget.allows(fault);
    let mut properties = vec![always(ONE_HEAD, has_one_head)];
    properties.extend(if is_exclusion {
        vec![
            always(EXCLUSION, is_exclusive),
            always(DEADLINE, is_backed),
            always(PHANTOM, has_no_phantom),
        ]
    } else {
        vec![sometimes(UNFENCED, |world| !is_exclusive(world))]
    });
    // With two primaries, or a clock behind, a holder that has yet to learn of its loss may have
    // the highest token.
    let orders_holders = configuration.notice == 0 && configuration.skew <= 0;
    // With several locks, each has its own order of tokens.
    if !is_exclusion && configuration.beside() == 0 {
        properties.push(if orders_holders {
            always(FENCED, is_fenced)
        } else {
            sometimes(UNORDERED, |world| !is_fenced(world))
        });
    }
    if configuration.confirms {
        properties.push(always(INFORMED, is_informed));
        properties.push(always(NOTICED, is_noticed_in_time));
        if allows(Fault::MoveSlot) {
            properties.push(sometimes(HELD_MEANWHILE, is_held_meanwhile));
        }
        if allows(Fault::FailOver) {
            properties.push(always(BROUGHT_BACK, |world| {
                world.brought_back > 0 || has_no_phantom(world)
            }));
            properties.push(sometimes(RESURRECTED, |world| !has_no_phantom(world)));
        }
    }
    if configuration.retain > 0 {
        properties.push(always(UNCONTENDED, is_uncontended));
        properties.push(always(CONNECTED, is_connected));
        if configuration.mixed == 0 {
            properties.push(sometimes(TAKEN, is_taken_again));
        }
    }
    if configuration.has_shares() {
        properties.push(always(COUNTED, is_counted));
        let rounding = configuration.rounding;
        properties.push(Property::always(AS_LONG, move |_, world, _| {
            is_as_long_as_its_shares(world, rounding)
        }));
        if configuration.shares.iter().flatten().count() > 1 {
            properties.push(sometimes(SHARED, is_shared));
        }
    }
    if allows(Fault::Downgrade) {
        properties.push(always(UNBROKEN, is_unbroken));
        properties.push(sometimes(DOWNGRADED, |world| {
            leases(world).any(|(_, lease)| lease.is_downgraded())
        }));
    }
    if configuration.at_least > 0 && is_exclusion {
        properties.push(always(MINIMUM, keeps_minimum));
        properties.push(sometimes(RESERVED, is_awaited_while_reserved));
    }
    if configuration.takes && allows(Fault::Crash) {
        properties.push(sometimes(PAST_A_WAITER, is_past_a_waiter));
    }
    if configuration.forgets {
        properties.push(sometimes(UNKNOWN, |world| {
            world.clients.iter().any(is_unknown_announced)
        }));
    }
    if configuration.beside() > 0 {
        properties.push(sometimes(IN_PART, has_a_part));
    }
    properties.push(sometimes(SEEN, |world| {
        world.budget.is_spent() && world.clients.iter().all(Client::is_idle)
    }));
    if configuration.recovers.is_some() {
        properties.push(Property::always(RECOVERY, recovery::recovers));
    }
    if configuration.has_shares() && is_exclusion && configuration.recovers.is_some() {
        properties.push(Property::always(LET_IN, admission::lets_in));
    }
    let mut rules = Breach::ALL.to_vec();
    if !is_exclusion {
        // A holder that does not know of its loss may begin a body, with a token that the resource
        // refuses.
        let of_bodies = [Breach::TurnToken, Breach::Bypassed, Breach::PhaseToken];
        rules.retain(|rule| !of_bodies.contains(rule));
    }
    properties.extend(rules.into_iter().map(never));
    properties
}

fn always(name: &'static str, holds: fn(&World) -> bool) -> Property<Configuration> {
    Property::always(name, move |_, world, _| holds(world))
}

fn sometimes(name: &'static str, holds: fn(&World) -> bool) -> Property<Configuration> {
    Property::sometimes(name, move |_, world, _| holds(world))
}

/// Whether every holder has the lock for as long as it relies on it, or is about to learn of its
/// loss.
fn is_informed(world: &World) -> bool {
    leases(world).all(|(owner, lease)| {
        let client = &world.clients[usize::from(owner.client)];
        !lease.is_valid()
            || lease.holding.is_unconfirmed()
            || client.connection.is_renewing(owner.number)
            || world.may_notice(client)
            || is_kept(world, owner, lease.deadline)
    })
}

/// Whether no client still uses a server although it had time to notice the replacement.
fn is_noticed_in_time(world: &World) -> bool {
    let is_over = matches!(world.source, Some(Source::Primary { left: ..0, .. }));
    let uses = |client: &Client| client.alive && client.connection.server == Server::Source;
    !is_over || !world.clients.iter().any(uses)
}

fn is_held_meanwhile(world: &World) -> bool {
    let is_held = world.clients.iter().flat_map(inside).next().is_some();
    let is_awaited = !world.records.queue.entries().is_empty();
    matches!(world.source, Some(Source::Moved)) && is_held && is_awaited
}

fn never(breach: Breach) -> Property<Configuration> {
    Property::always(breach.rule(), move |_, world: &World, _| {
        !world.breaches.has(breach)
    })
}

fn has_one_head(world: &World) -> bool {
    world.clients.iter().all(|client| {
        let heads = |shares: bool| {
            let owners = client.owners.iter();
            let heads = owners.filter(|owner| owner.is_head() && owner.is_among_shares() == shares);
            heads.count()
        };
        let has_waiter = client.queue.waiting() > 0;
        heads(false) == client.queue.heads()
            && heads(true) == client.sharing.heads()
            && (!has_waiter || heads(false) == 1)
    })
}

fn is_uncontended(world: &World) -> bool {
    leases(world).all(|(_, lease)| lease.body != Body::Over || !lease.holding.is_contended())
}

fn is_connected(world: &World) -> bool {
    leases(world).all(|(_, lease)| lease.body != Body::Over || !lease.torn)
}

fn is_unknown_announced(client: &Client) -> bool {
    let next = client.connection.down.first();
    matches!(next, Some(&Incoming::Push(number, _)) if client.find(number).is_none())
}

fn is_taken_again(world: &World) -> bool {
    let mut leases = leases(world);
    leases.any(|(_, lease)| lease.body == Body::Over && lease.holding.turn() > 0)
}

/// Whether a lock has no flag although a live waiter queues, since a plain command ignored the
/// queue.
fn is_past_a_waiter(world: &World) -> bool {
    let mut waiters = world.records.queue.entries().iter();
    world.records.holder().is_some()
        && !world.records.is_flagged()
        && waiters.any(QueueEntry::is_live)
}

/// Whether a caller has the first of its locks, and waits for another.
fn has_a_part(world: &World) -> bool {
    let mut owners = world.clients.iter().flat_map(|client| &client.owners);
    owners.any(|owner| match &owner.phase {
        Phase::Competing(competing) => competing.in_the_way() > Some(0),
        _ => false,
    })
}

fn is_exclusive(world: &World) -> bool {
    (0..)
        .zip(world.locks())
        .all(|(lock, _)| is_exclusive_at(world, lock))
}

/// Whether no two bodies run at this lock that must exclude each other.
fn is_exclusive_at(world: &World, lock: u8) -> bool {
    let mut bodies = 0;
    let (mut is_alone, mut taken, mut limit) = (false, 0, Some(0));
    let clients = world.clients.iter();
    let takers = clients.filter(|client| client.locks().contains(&lock));
    for (owner, _) in takers.flat_map(inside) {
        bodies += 1;
        match owner.share {
            None => is_alone = true,
            Some(share) => {
                taken += u32::from(share.take);
                // Readers have no limit.
                limit = limit
                    .filter(|_| share.limit > 0)
                    .map(|limit: u8| limit.max(share.limit));
            }
        }
    }
    // Callers may have different limits, and each is admitted by its own.
    let has_room = limit.is_none_or(|limit| taken <= u32::from(limit));
    if is_alone { bodies == 1 } else { has_room }
}

/// Whether two bodies share the lock.
fn is_shared(world: &World) -> bool {
    let bodies = world.clients.iter().flat_map(inside);
    bodies.filter(|(owner, _)| owner.share.is_some()).count() > 1
}

/// Whether the local deadline is never after the server's expiry, until the release.
fn is_backed(world: &World) -> bool {
    leases(world).all(|(owner, lease)| lease.deadline == 0 || is_kept(world, owner, lease.deadline))
}

/// Whether the server keeps all locks of this owner until `deadline`.
fn is_kept(world: &World, owner: OwnerId, deadline: Ticks) -> bool {
    let mut locks = world.locks_of(owner.client);
    locks.all(|records| is_kept_in(records, owner, deadline))
}

fn is_kept_in(records: &Records, owner: OwnerId, deadline: Ticks) -> bool {
    let Some((holder, rest)) = holder(records) else {
        return false;
    };
    // Where R is evicted or unreadable, no share joins until K expires.
    let is_unknown = matches!(records.shares, None | Some(Shares::WrongType));
    let share = records.share(owner);
    let has_share = is_unknown || share.is_some_and(|share| share.rest >= deadline);
    let is_holder = holder == owner || holder == OwnerId::PHASE && has_share;
    is_holder && rest.is_none_or(|rest| rest >= deadline)
}

/// Whether a reserved lock is taken for exactly its minimum.
fn keeps_minimum(world: &World) -> bool {
    let rest = match holder(&world.records) {
        Some((OwnerId::RESERVED, rest)) => rest.unwrap_or(0),
        _ => 0,
    };
    rest == world.minimum
}

fn is_awaited_while_reserved(world: &World) -> bool {
    world.records.holder() == Some(OwnerId::RESERVED) && !world.records.queue.entries().is_empty()
}

/// Whether no downgrade took a lock that was lost before.
fn is_unbroken(world: &World) -> bool {
    leases(world).all(|(_, lease)| !lease.is_downgraded() || !lease.taken_anew)
}

/// Whether the record of a phase has the right sum, and lasts as long as its shares.
fn is_counted(world: &World) -> bool {
    let (Some((OwnerId::PHASE, until)), Some(Shares::Counted { members, sum, rest })) =
        (holder(&world.records), &world.records.shares)
    else {
        return true;
    };
    let taken: i32 = members.iter().map(|member| i32::from(member.take)).sum();
    until == Some(*rest) && taken == *sum
}

/// Whether the lock and its shares last until the last share lapses, and no longer.
fn is_as_long_as_its_shares(world: &World, rounding: Ticks) -> bool {
    let (Some((OwnerId::PHASE, until)), Some(Shares::Counted { members, .. })) =
        (holder(&world.records), &world.records.shares)
    else {
        return true;
    };
    let last = members.iter().map(|member| member.rest).max().unwrap_or(0);
    until.is_some_and(|until| until <= last + rounding && (last == 0 || until >= last))
}

fn holder(records: &Records) -> Option<(OwnerId, Option<Ticks>)> {
    Some((records.holder()?, records.lock?.rest))
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
    world.locks().all(|records| {
        let holder = records.holder().filter(|holder| holder.is_of_a_client());
        let mut shares = records.members().iter();
        let mut entries = records.queue.entries().iter();
        holder.is_none_or(is_known)
            && shares.all(|share| !share.is_live() || is_known(share.owner))
            && entries.all(|entry| !entry.is_live() || is_known(entry.owner))
    })
}

/// Whether the present holder's token is above those of all other holders. A resource that refuses tokens
/// below the highest it has seen then refuses all stale writes, once that holder has written.
fn is_fenced(world: &World) -> bool {
    let Some((present, token)) = held(world).filter(|&(_, token)| token > 0) else {
        return true;
    };
    let has_it = |owner| owner == present || world.records.share(owner).is_some();
    if !leases(world).any(|(owner, _)| has_it(owner)) {
        return true;
    }
    // The shares of a phase, including lapsed ones, have one token.
    let is_below = |other| other < token || present == OwnerId::PHASE && other == token;
    leases(world).all(|(other, lease)| has_it(other) || is_below(lease.token))
}

/// The holder and its token. A lease may have a later token of the same grant.
fn held(world: &World) -> Option<(OwnerId, Token)> {
    let Ours { owner, token, .. } = world.records.ours()?;
    let mut leases = leases(world);
    let present = leases.find(|&(other, _)| other == owner);
    Some((owner, present.map_or(token, |(_, lease)| lease.token)))
}
