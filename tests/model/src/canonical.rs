//! Makes states equal that differ only in names: the order of clients, and the numbers of owners
//! and tokens.

use crate::backend::wire::PRESENT;
use crate::client::{Client, Phase};
use crate::configuration::Configuration;
use crate::moves::Source;
use crate::network::{Incoming, Kind};
use crate::server::{Answer, Fence, OwnerId, Records, Token};
use crate::world::World;

/// Renames clients, owners and tokens. Any renaming of clients is sound, since all clients follow the same
/// rules. So is any renaming of owners, and any renaming of tokens that keeps their order, since they are
/// only compared. (Gaps between grants become the least that there may be, which is the worst case.)
pub(crate) fn reduce(world: &mut World, configuration: &Configuration) {
    compact_tokens(world, configuration.turns);
    forget(world, !configuration.modes.is_empty());
    compact_owners(world);
    sort_clients(world);
}

/// Gives the present connections one name, and the closed ones another. Drops the parts of calls
/// and ends that no longer decide anything.
fn forget(world: &mut World, may_refuse: bool) {
    let is_several = !world.beside.is_empty();
    for client in &mut world.clients {
        let present = std::mem::replace(&mut client.connection.id, PRESENT);
        client.queue.reduce();
        for owner in &mut client.owners {
            if owner.lease().is_none_or(|lease| lease.token > 0) {
                owner.granted = 0;
            }
            let reports = owner.end().is_some_and(|end| end.ending.owes_report());
            let is_ended = owner.is_ended;
            match &mut owner.phase {
                Phase::Competing(competing) if is_several => {
                    competing.reduce_several(present, !owner.awaits_reply);
                    continue;
                }
                Phase::Competing(competing) => {
                    competing.reduce(present, !owner.awaits_reply, may_refuse);
                    continue;
                }
                Phase::Ending(end) => end.reduce(),
                Phase::Named | Phase::Held(_) => {}
            }
            owner.outstanding().reduce(present, is_ended, reports);
        }
    }
}

fn sort_clients(world: &mut World) {
    if world.clients.is_sorted() {
        return;
    }
    let mut order: Vec<usize> = (0..world.clients.len()).collect();
    order.sort_by(|&a, &b| world.clients[a].cmp(&world.clients[b]));
    let mut renamed = vec![0; order.len()];
    for (new, &old) in (0u8..).zip(&order) {
        renamed[old] = new;
    }
    world.clients.sort();
    let rename = |owner: &mut OwnerId| {
        // Phases and reserved locks have owners that belong to no client.
        if let Some(&client) = renamed.get(usize::from(owner.client)) {
            owner.client = client;
        }
    };
    for records in all_records(world) {
        owners(records, rename);
    }
    if let Some((owner, bodies)) = &mut world.waiting_head {
        rename(owner);
        *bodies = order.iter().map(|&old| bodies[old]).collect();
    }
}

/// The records of each lock, of a replica, and of a replaced primary.
fn all_records(world: &mut World) -> impl Iterator<Item = &mut Records> {
    let replica = world.replica.iter_mut();
    let replica = replica.map(|replica| &mut replica.records);
    let source = world.source.iter_mut();
    let others = replica.chain(source.filter_map(Source::own_records));
    [&mut world.records]
        .into_iter()
        .chain(&mut world.beside)
        .chain(others)
}

fn owners(records: &mut Records, mut rename: impl FnMut(&mut OwnerId)) {
    if let Some(ours) = records.ours_mut() {
        rename(&mut ours.owner);
    }
    for entry in records.queue.entries_mut() {
        rename(&mut entry.owner);
    }
    if let Some(shares) = &mut records.shares {
        for member in shares.members_mut() {
            rename(&mut member.owner);
        }
        shares.members_mut().sort();
    }
}

/// Numbers each owner by its place among the owners of its client that anything names.
fn compact_owners(world: &mut World) {
    for id in 0..world.clients.len() {
        let mut used = 0_u64;
        each_owner(world, id, |number| used |= bit(*number));
        world.clients[id].next_number = used.count_ones() as u8;
        if !has_no_gap(used) {
            each_owner(world, id, |number| *number = place_in(used, *number));
        }
    }
}

/// Whether a set of numbers, one bit each, is contiguous from 0.
fn has_no_gap(numbers: u64) -> bool {
    numbers.trailing_ones() == numbers.count_ones()
}

fn bit(number: impl Into<i64>) -> u64 {
    let bit = 1_u64.checked_shl(number.into() as u32);
    bit.expect("few numbers are in use at a time")
}

/// How many numbers of the set are below `number`.
fn place_in(numbers: u64, number: impl Into<i64>) -> u8 {
    let below = bit(number) - 1;
    (numbers & below).count_ones() as u8
}

fn each_owner(world: &mut World, id: usize, mut see: impl FnMut(&mut u8)) {
    let mut named = |owner: &mut OwnerId| {
        if usize::from(owner.client) == id {
            see(&mut owner.number);
        }
    };
    for records in all_records(world) {
        owners(records, &mut named);
    }
    if let Some((owner, _)) = &mut world.waiting_head {
        named(owner);
    }
    let client = &mut world.clients[id];
    for owner in &mut client.owners {
        see(&mut owner.number);
        if let Phase::Ending(end) = &mut owner.phase {
            end.successor.iter_mut().for_each(&mut see);
        }
    }
    for down in &mut client.connection.down {
        match down {
            Incoming::Push(number, _) => see(number),
            Incoming::Reply(reply) => {
                see(&mut reply.number);
                successor(&mut reply.kind, &mut see);
            }
            Incoming::Redirect { request, .. } => {
                see(&mut request.number);
                successor(&mut request.kind, &mut see);
            }
        }
    }
    for request in client.connection.requests_mut() {
        see(&mut request.number);
        successor(&mut request.kind, &mut see);
    }
}

fn successor(kind: &mut Kind, see: &mut impl FnMut(&mut u8)) {
    if let Kind::End {
        successor: Some((number, _)),
    } = kind
    {
        see(number);
    }
}

/// A token is a grant's place in the order of grants, times the tokens of a grant, plus the turn.
fn compact_tokens(world: &mut World, turns: Token) {
    let mut grants = 1_u64;
    each_token(world, |token| grants |= bit(*token / turns));
    if has_no_gap(grants) {
        return;
    }
    each_token(world, |token| {
        let place = place_in(grants, *token / turns);
        *token = Token::from(place) * turns + *token % turns;
    });
}

fn each_token(world: &mut World, mut see: impl FnMut(&mut Token)) {
    see(&mut world.last);
    see(&mut world.clock);
    see(&mut world.highest);
    see(&mut world.highest_alone);
    if let Some(known) = &mut world.known {
        see(known);
    }
    if let Some(replica) = &mut world.replica {
        see(&mut replica.last);
    }
    for records in all_records(world) {
        of_records(records, &mut see);
    }
    for client in &mut world.clients {
        of_client(client, &mut see);
    }
}

fn of_records(records: &mut Records, see: &mut impl FnMut(&mut Token)) {
    if let Some(ours) = records.ours_mut() {
        see(&mut ours.token);
    }
    if let Some(Fence::Token { token, .. }) = &mut records.fence {
        see(token);
    }
}

fn of_client(client: &mut Client, see: &mut impl FnMut(&mut Token)) {
    for owner in &mut client.owners {
        see(&mut owner.granted);
        match &mut owner.phase {
            Phase::Held(lease) => see(&mut lease.token),
            Phase::Ending(end) => end.deletes.iter_mut().for_each(&mut *see),
            _ => {}
        }
    }
    for down in &mut client.connection.down {
        match down {
            Incoming::Reply(reply) => {
                of_kind(&mut reply.kind, see);
                see(&mut reply.granted);
                if let Some(Answer::Held { token, .. }) = &mut reply.answer {
                    see(token);
                }
            }
            Incoming::Redirect { request, .. } => of_kind(&mut request.kind, see),
            Incoming::Push(..) => {}
        }
    }
    for request in client.connection.requests_mut() {
        of_kind(&mut request.kind, see);
    }
}

fn of_kind(kind: &mut Kind, see: &mut impl FnMut(&mut Token)) {
    if let Kind::Delete { token }
    | Kind::Mint { granted: token }
    | Kind::Downgrade { granted: token, .. } = kind
    {
        see(token);
    }
}
