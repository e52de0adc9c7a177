//! Slots of a cluster that move.

use super::*;

rows! {
    E slots_move_under_load on RedisCluster::start, few;
    E records_move_apart on RedisCluster::start;
    E slot_half_moved on RedisCluster::start, few;
}

/// The slot of a lock moves back and forth while three processes want the lock: step by step,
/// alternating with a single step where the servers support it.
fn slots_move_under_load(round: &mut Round<'_, RedisCluster>) {
    const TIME: Duration = Duration::from_secs(2);
    let mut moves = 0;
    round.hammer(&["plain"; 3], LONG, TIME, |round| {
        let (cluster, lock) = (&round.server, &round.lock.k);
        let source = cluster.owner(lock);
        let target = cluster.other_primary(source);
        let slot = cluster.slot(lock);
        if moves % 2 == 0 || !cluster.move_slot_at_once(slot, source, target) {
            cluster.move_slot(slot, source, target, || ());
        }
        // While a slot moves faster than its nodes hear of it, it may have no owner.
        cluster.wait_until_whole();
        moves += 1;
    });
    assert!(moves > 1, "{moves} moves");
}

/// A lock is moved before its slot, and then, with a waiter, some of its records before the others:
/// a different selection in each round. A held lock is renewed meanwhile, and released at the
/// latest when all records have been moved.
fn records_move_apart(round: &mut Round<'_, RedisCluster>) {
    lock_is_ahead(round);
    records_are_apart(round);
}

/// All records that a release without a waiter needs are on one side.
fn lock_is_ahead(round: &mut Round<'_, RedisCluster>) {
    let mut holder = round.holder(LONG);
    let (cluster, lock) = (&round.server, &round.lock.k);
    let (slot, source) = (cluster.slot(lock), cluster.owner(lock));
    let target = cluster.other_primary(source);
    cluster.open_slot(slot, source, target);
    cluster.move_named(lock, source, target);
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    round.finish(&mut holder);
    let cluster = &round.server;
    while cluster.move_key(slot, source, target) {}
    cluster.close_slot(slot, source, target);
    cluster.wait_until_whole();
    round.reconnect();
}

fn records_are_apart(round: &mut Round<'_, RedisCluster>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let (cluster, lock) = (&round.server, &round.lock);
    let records = [&lock.k, &lock.f, &lock.q];
    let selection = 1 + round.number % 7;
    let (slot, source) = (cluster.slot(&lock.k), cluster.owner(&lock.k));
    let target = cluster.other_primary(source);
    cluster.open_slot(slot, source, target);
    for (bit, record) in records.into_iter().enumerate() {
        if selection >> bit & 1 == 1 {
            cluster.move_named(record, source, target);
        }
    }
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    let released = Instant::now();
    holder.send("release");
    // Enough time to find the records apart.
    let early = holder.line(Duration::from_millis(100));
    while cluster.move_key(slot, source, target) {}
    cluster.close_slot(slot, source, target);
    let answer = early.or_else(|| holder.line(PATIENCE));
    assert_eq!(answer.as_deref(), Some("ok"));
    round.reconnect();
    round.let_in(&mut waiter, released, SOON);
}

/// A slot stays half moved for longer than a lease: a held lock is renewed, and a newcomer is
/// refused in time.
fn slot_half_moved(round: &mut Round<'_, RedisCluster>) {
    const TTL: Duration = Duration::from_secs(2);
    let mut holder = round.holder(TTL);
    let mut newcomer = round.worker();
    let (cluster, lock) = (&round.server, &round.lock.k);
    let (slot, source) = (cluster.slot(lock), cluster.owner(lock));
    let target = cluster.other_primary(source);
    cluster.open_slot(slot, source, target);
    cluster.move_named(lock, source, target);
    let opened = Instant::now();
    round.refused(
        &mut newcomer,
        (LONG, Duration::from_millis(500)),
        "Unavailable",
    );
    wait_until("end of two leases", PATIENCE, || opened.elapsed() > TTL * 2);
    round.visit(&mut holder);
    let cluster = &round.server;
    while cluster.move_key(slot, source, target) {}
    cluster.close_slot(slot, source, target);
    let released = round.release(&mut holder);
    round.ask(&mut newcomer, LONG, PATIENCE);
    round.let_in(&mut newcomer, released, SOON);
}
