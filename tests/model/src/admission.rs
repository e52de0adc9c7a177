//! Admission: continues a state while a phase lasts.
//!
//! Recovery lets all calls end, so that each waiter is served eventually. Here, the holders of
//! shares stay inside and renew their leases. A waiter that could join them must get in within a
//! bounded time, even behind waiters whose process has ended or hangs.

use crate::client::{Client, Owner, Phase};
use crate::configuration::Configuration;
use crate::recovery::{Course, one_tick};
use crate::server::{Command, Mode, OwnerId, Share, Site, Ticks};
use crate::world::World;

/// Whether every waiter that could be inside gets in, with each client paused in turn and with none
/// paused. Only a sample of the states is checked, like in [`recovers`](crate::recovery::recovers).
pub(crate) fn lets_in(configuration: &Configuration, world: &World, fingerprint: u64) -> bool {
    let every = configuration.recovers.unwrap_or(1);
    if !fingerprint.is_multiple_of(every) || world.mode != Mode::Normal {
        return true;
    }
    let clients = (0..).zip(&world.clients).map(|(id, _)| Some(id));
    let mut paused = std::iter::once(None).chain(clients);
    paused.all(|paused| lets_in_beside(configuration, world, paused))
}

/// A share of an owner.
type OfOwner = (OwnerId, Share);

fn lets_in_beside(configuration: &Configuration, world: &World, paused: Option<u8>) -> bool {
    let inside = shares(world, paused, |world, name, owner| {
        owner.lease().is_some_and(|lease| lease.is_valid()) && world.records.share(name).is_some()
    });
    let waiting = shares(world, paused, |_, _, owner| is_competing(owner));
    if inside.is_empty() || !could_be_inside(world, paused, &inside, &waiting) {
        return true;
    }
    let course = Course {
        paused,
        stay: inside.iter().map(|&(name, _)| name).collect(),
        is_closed: true,
    };
    let mut world = world.clone();
    for _ in 0..longest(configuration) {
        for &(name, share) in &inside {
            renew(&mut world, name, share, configuration);
        }
        one_tick(&mut world, configuration, &course);
    }
    let waits = |&(name, _): &OfOwner| {
        let client = &world.clients[usize::from(name.client)];
        let owner = client.find(name.number).map(|index| &client.owners[index]);
        owner.is_some_and(is_competing)
    };
    !waiting.iter().any(waits)
}

/// The longest time until a waiter gets in: the lease of a paused holder, or the time until paused
/// waiters are skipped plus the last claim that one of them was granted; and one poll.
fn longest(configuration: &Configuration) -> Ticks {
    configuration.longest().max(2 * configuration.claim) + 1
}

fn is_competing(owner: &Owner) -> bool {
    owner.queues()
}

/// The clients that are not paused.
fn going(world: &World, paused: Option<u8>) -> impl Iterator<Item = (u8, &Client)> {
    let clients = (0..).zip(&world.clients);
    clients.filter(move |&(id, client)| client.alive && Some(id) != paused)
}

/// The shares of these owners, without the paused client's.
fn shares(
    world: &World,
    paused: Option<u8>,
    is_one: impl Fn(&World, OwnerId, &Owner) -> bool,
) -> Vec<OfOwner> {
    let owners = going(world, paused).flat_map(|(client, state)| {
        let name = move |owner: &Owner| OwnerId {
            client,
            number: owner.number,
        };
        state.owners.iter().map(move |owner| (name(owner), owner))
    });
    let owners = owners.filter(|&(name, owner)| is_one(world, name, owner));
    owners
        .filter_map(|(name, owner)| Some((name, owner.share?)))
        .collect()
}

/// Whether each waiter could be inside: its share fits, and no client that runs wants the lock
/// alone.
fn could_be_inside(
    world: &World,
    paused: Option<u8>,
    inside: &[OfOwner],
    waiting: &[OfOwner],
) -> bool {
    let taken: u8 = inside.iter().map(|(_, share)| share.take).sum();
    let has_room = |share: Share| share.limit == 0 || taken + share.take <= share.limit;
    let mut owners = going(world, paused).flat_map(|(_, client)| &client.owners);
    waiting.iter().all(|&(_, share)| has_room(share)) && owners.all(|owner| owner.share.is_some())
}

/// Renews a share, and the lease that its holder relies on.
fn renew(world: &mut World, name: OwnerId, share: Share, configuration: &Configuration) {
    let client = world.client(name.client);
    let index = client.find(name.number).expect("it stays");
    let owner = &mut client.owners[index];
    let (take, ttl) = (share.take, owner.ttl);
    if let Phase::Held(lease) = &mut owner.phase {
        lease.deadline = ttl;
    }
    let command = Command::ShareRenew {
        owner: name,
        take,
        ttl,
    };
    let (rules, site) = (configuration.rules(), Site::default());
    world.records.run(command, &rules, &site);
}
