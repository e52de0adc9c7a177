//! Servers that forget a lock, and a server that does not.

use super::*;

rows! {
    E restart_with_aof on durable;
    F restart_without_persistence;
    F lock_deleted, walked;
    F one_of_two_locks_deleted;
    F everything_flushed, walked;
    F everything_evicted, walked;
}

/// A server that writes every command to disk.
fn durable() -> RedisServer {
    RedisServer::builder().durable().start()
}

/// kill -9 of a server that writes every command to disk: the lease survives.
fn restart_with_aof(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut next = round.waiter(LONG);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    let before = round.lock.value();
    round.server.restart();
    round.reconnect();
    // The flag may be set at any time.
    let owner = |value: Option<String>| value.map(|value| value[..22].to_owned());
    assert_eq!(owner(round.lock.value()), owner(before), "the same owner");
    renewed(&mut holder);
    assert_eq!(holder.ask("write", PATIENCE), "written");
    round.pass(&mut holder, &mut next, SOON);
}

/// kill -9 of a server without persistence.
fn restart_without_persistence(round: &mut Round<'_>) {
    forgotten(round, |round| {
        round.server.restart_empty();
        round.reconnect();
    });
}

/// The lock's record is deleted.
fn lock_deleted(round: &mut Round<'_>) {
    forgotten(round, |round| round.lock.delete_record());
    body_dropped(round);
}

/// One of two locks that are held together is deleted: the loss of both is reported, without an
/// effect on the next holder of the deleted one.
fn one_of_two_locks_deleted(round: &mut Round<'_>) {
    let (mut holder, next) = (round.worker(), round.worker());
    let other = format!("{}:other", round.key);
    round.ask_for(&mut holder, &[&round.key, &other], LONG);
    round.granted(&holder);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    let end = round.lock.lease_end();
    round.lock.delete_record();
    taken_over(round, holder, next, end);
}

/// FLUSHALL: the fence is lost as well.
fn everything_flushed(round: &mut Round<'_>) {
    forgotten(round, |round| round.lock.command(&["FLUSHALL"]));
}

/// A server that evicts keys to save memory, including the fence.
fn everything_evicted(round: &mut Round<'_>) {
    forgotten(round, |round| {
        round
            .server
            .config_set("maxmemory-policy", "allkeys-random");
        round.server.config_set("maxmemory", "1");
        wait_until("eviction", PATIENCE, || {
            round.lock.command::<i64>(&["DBSIZE"]) == 0
        });
        round.server.config_set("maxmemory", "0");
    });
}

/// The server forgets the lock while a worker is inside, and the next process gets it immediately.
/// A lock cannot prevent that; but the first worker's loss is reported, and the resource recognises
/// it by its token.
fn forgotten(round: &mut Round<'_>, forget: fn(&mut Round<'_>)) {
    let mut holder = round.holder(LONG);
    let next = round.worker();
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    // No renewal is confirmed after this worker's.
    let end = round.lock.lease_end();
    forget(round);
    taken_over(round, holder, next, end);
}

/// The next process gets the lock that was just forgotten, whose holder had it until `end`.
fn taken_over(round: &mut Round<'_>, mut holder: Worker, mut next: Worker, end: Instant) {
    let since = Instant::now();
    round.comes(&mut next, LONG, since, Duration::ZERO);
    round.visit(&mut next);

    assert_eq!(holder.ask("write", PATIENCE), "stale");
    round.told(&mut holder, end);
    round.replaced(holder, next);
}

/// A body that only awaits is dropped at its await when the server reports the loss.
fn body_dropped(round: &mut Round<'_>) {
    let mut holder = round.worker();
    let sleep = format!("sleep {}", (LONG * 3).as_millis());
    holder.send(&round.command("run", LONG, PATIENCE, &sleep));
    wait_until("holder", PATIENCE, || round.lock.value().is_some());
    let end = round.lock.lease_end();
    round.lock.delete_record();
    round.dropped(&holder, end);
}
