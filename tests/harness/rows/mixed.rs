//! Readers, writers, permits and plain callers at one lock.

use super::connections::hammered_without_clients;
use super::*;

rows! {
    E writer_among_readers;
    E downgraded_under_cuts, walked;
    E sharers_disconnected;
    E sharers_killed;
}

/// Each way to hold a lock.
const MODES: &[&str] = &["plain", "write", "read", "permits 2", "permits 3 take 2"];

/// Readers keep coming: a writer waits for the readers that came before it, and for no others.
fn writer_among_readers(round: &mut Round<'_>) {
    one_overtakes_no_writer(round);
    many_starve_no_writer(round);
}

fn one_overtakes_no_writer(round: &mut Round<'_>) {
    let mut reader = round.holder_in("read", LONG);
    let mut writer = round.waiter_in("write", LONG);
    let mut late = round.waiter_in("read", LONG);
    round.visit(&mut reader);
    let released = round.release(&mut reader);
    round.granted_next(&writer, released, Duration::ZERO);
    round.pass(&mut writer, &mut late, Duration::ZERO);
}

fn many_starve_no_writer(round: &mut Round<'_>) {
    let mut writer = round.worker_in("write");
    round.hammer(&["read"; 3], LONG, Duration::from_secs(1), |round| {
        let asked = Instant::now();
        round.enters(&mut writer, LONG, asked, Duration::ZERO);
    });
}

/// The connection breaks while a writer becomes a reader, before the command or before its answer:
/// the command is sent again. The waiting reader in front joins, and the writer behind it waits for
/// both.
fn downgraded_under_cuts(round: &mut Round<'_>) {
    // The remains of a command that was cut are ended for some seconds.
    let mut ways = Vec::new();
    let mut workers = Vec::new();
    for cut in [Proxy::cut_next_request, Proxy::cut_next_reply] {
        let (proxy, mut worker) = round.behind_a_proxy();
        worker.ask_mode("read");
        // From now on the server knows the scripts, so the cut does not hit the error about an
        // unknown script.
        let mut worker = round.hold(worker, LONG);
        round.release(&mut worker);
        worker.ask_mode("write");
        let mut worker = round.hold(worker, LONG);
        let mut reader = round.waiter_in("read", LONG);
        let mut last = round.waiter_in("write", LONG);
        round.visit(&mut worker);
        cut(&proxy, &round.lock.k);
        let asked = Instant::now();
        worker.send("downgrade");
        // Its own token, above the writer's.
        round.granted_next(&worker, asked, SOON);
        assert_eq!(proxy.cuts(), 1, "the fault happened");
        assert_eq!(worker.ask("look", PATIENCE), "looked");
        round.joined_next(&reader, asked, SOON);
        round.visit(&mut reader);
        assert_eq!(worker.ask("write", PATIENCE), "written");
        let released = Instant::now();
        for reader in [&mut worker, &mut reader] {
            round.release(reader);
        }
        round.let_in(&mut last, released, Duration::ZERO);
        ways.push(proxy);
        workers.extend([worker, reader, last]);
    }
}

/// Processes of all modes visit one resource, and all are disconnected repeatedly.
fn sharers_disconnected(round: &mut Round<'_>) {
    hammered_without_clients(round, MODES);
}

/// Processes of all modes visit one resource. From time to time one is killed, wherever it is, and
/// another takes its place.
fn sharers_killed(round: &mut Round<'_>) {
    const KILLS: u64 = 3;
    // A busy machine may stall a process for a second.
    let ttl = 2 * TTL;
    let time = Duration::from_millis(500) * u32::try_from(KILLS).expect("it is small");
    let mut workers: Vec<_> = MODES.iter().map(|mode| round.worker_in(mode)).collect();
    for worker in &mut workers {
        round.start_hammer(worker, ttl, time);
    }
    for kill in 0..KILLS {
        let (began, pause) = (Instant::now(), 100 + round.any_number(2 * kill, 200));
        let pause = Duration::from_millis(pause);
        wait_until("moment to kill", PATIENCE, || began.elapsed() >= pause);
        let victim = round.any_number(2 * kill + 1, MODES.len() as u64);
        let victim = usize::try_from(victim).expect("it is small");
        workers[victim].kill9();
        workers[victim] = round.worker_in(MODES[victim]);
        round.start_hammer(&mut workers[victim], ttl, time);
    }
    for worker in &workers {
        round.end_hammer(worker);
    }
}
