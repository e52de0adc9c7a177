//! Many callers or locks, and no fault.

use super::*;
use std::collections::HashSet;

use crate::monitor::Command;

rows! {
    E order;
    E release_at_once;
    E thousand_waiters;
    E ten_thousand_keys;
}

/// Processes are served in the order in which they asked.
fn order(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    // Each is in the queue before the next one starts.
    let mut waiters: Vec<_> = (0..5).map(|_| round.waiter(LONG)).collect();
    // The first holder asks again right after its release, and queues at the tail.
    let released = Instant::now();
    holder.send("release");
    round.ask(&mut holder, LONG, PATIENCE);
    assert_eq!(holder.line(PATIENCE).as_deref(), Some("ok"));
    round.granted_next(&waiters[0], released, Duration::ZERO);
    round.wait_for_queue(waiters.len());
    waiters.push(holder);

    let mut waiters = waiters.into_iter();
    let mut holder = waiters.next().expect("there are five");
    round.visit(&mut holder);
    for mut waiter in waiters {
        let released = round.release(&mut holder);
        // No process releases without a command: a process served out of turn would block this one.
        round.granted_next(&waiter, released, Duration::ZERO);
        round.visit(&mut waiter);
        holder = waiter;
    }
    round.release(&mut holder);
    assert_eq!((round.lock.value(), round.lock.queue().len()), (None, 0));
}

/// The lock is released immediately after its grant.
fn release_at_once(round: &mut Round<'_>) {
    free_when_released(round);
    no_renewal_follows(round);
}

/// With a long ttl: the lock is free as soon as the release has returned.
fn free_when_released(round: &mut Round<'_>) {
    let mut worker = round.patient_worker();
    let cycle = round.command("cycle", LONG, PATIENCE, "1");
    for _ in 0..100 {
        assert_eq!(worker.ask(&cycle, PATIENCE * 3), "ok");
        assert_eq!(round.lock.value(), None);
    }
}

/// A thousand times, with a ttl so short that a renewal is due: no renewal outlives the release, unless its thread was
/// stopped between the last look at the lease and the write. A machine with more to do than it has cores stops one in a
/// hundred at most; such a renewal does nothing, since the server compares its owner.
fn no_renewal_follows(round: &mut Round<'_>) {
    const TIMES: usize = 1_000;
    let mut monitor = round.server.monitor();
    let mut worker = round.patient_worker();
    let mut again = TIMES;
    while again > 0 {
        let some = again.min(100);
        let cycle = round.command(
            "cycle",
            Duration::from_millis(40),
            PATIENCE,
            &some.to_string(),
        );
        let answer = worker.ask(&cycle, PATIENCE * 3);
        // A stalled machine loses such a short lease: then the rest of the thousand follows.
        if answer == "ok" {
            again -= some;
        } else {
            assert!(answer.starts_with("failed Lost "), "{answer}");
        }
        // A release that is not answered before the lease ends continues without its caller. Then
        // the lock may stay until its lease ends.
        wait_until("release", SLACK, || round.lock.value().is_none());
    }
    let commands = monitor.take();
    let late = after_their_release(&commands);
    assert!(
        late.len() <= TIMES / 100,
        "{} came late: {:?}",
        late.len(),
        late[0]
    );
    drop(monitor);
}

/// The renewals of owners that were released before.
fn after_their_release(commands: &[Command]) -> Vec<&Command> {
    let mut released = HashSet::new();
    let mut late = Vec::new();
    for command in commands {
        match command.words()[..] {
            // EVALSHA sha 1 K owner: the release. With a ttl it is the renewal.
            ["EVALSHA", _, "1", _, owner] => {
                released.insert(owner);
            }
            // A release by the whole record, on a server that compares and deletes.
            ["DELIFEQ", _, record] | ["DELEX", _, "IFEQ", record] => {
                released.insert(&record[..22]);
            }
            ["EVALSHA", _, "1", _, owner, _] if released.contains(owner) => late.push(command),
            _ => {}
        }
    }
    assert!(!released.is_empty(), "no release was seen");
    late
}

/// A thousand callers wait for one lock, in two processes: each process serves its own callers in
/// order.
fn thousand_waiters(round: &mut Round<'_>) {
    const EACH: usize = 500;
    let mut holder = round.holder(LONG);
    let mut crowds = [round.patient_worker(), round.patient_worker()];
    for (n, crowd) in crowds.iter_mut().enumerate() {
        crowd.send(&round.command("crowd", LONG, PATIENCE * 3, &EACH.to_string()));
        round.wait_for_queue(n + 1);
    }
    assert_eq!(round.channels(), 3, "one a process");
    round.release(&mut holder);
    for crowd in &crowds {
        let answer = crowd.line(PATIENCE * 4).expect("an answer");
        assert_eq!(answer, format!("crowded {EACH}"));
    }
}

/// One process holds ten thousand locks: over one connection and one channel.
fn ten_thousand_keys(round: &mut Round<'_>) {
    const KEYS: usize = 10_000;
    let mut worker = round.patient_worker();
    // Long enough for a slow machine to hold the first lock while it acquires the last.
    let ttl = PATIENCE * 3;
    let many = round.command("many", ttl, ttl, &KEYS.to_string());
    assert_eq!(worker.ask(&many, ttl), "ok");
    // Each lock leaves its fence.
    let keys: usize = round.lock.command(&["DBSIZE"]);
    assert_eq!((keys, round.channels()), (2 * KEYS, 1));
    assert_eq!(round.clients(), 2, "ours and its own");
    assert_eq!(worker.ask("release-many", ttl), "ok");
    let keys: usize = round.lock.command(&["DBSIZE"]);
    assert_eq!(keys, KEYS, "locks are left");
}
