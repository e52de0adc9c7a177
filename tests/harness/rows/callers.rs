//! Faults in the code that requests the lock.

use super::*;

rows! {
    E acquire_dropped;
    E body_panics;
    E body_blocks;
    E body_blocks_past_its_lease;
    E caller_polled_late;
    E caller_never_polled;
    E first_in_line_gives_up, walked;
    E runtime_dropped;
    E in_memory;
}

/// Acquires that are dropped at random moments, on a held lock and on a free one.
fn acquire_dropped(round: &mut Round<'_>) {
    const TIMES: u64 = 40;
    let mut holder = round.holder(LONG);
    let mut caller = round.worker();
    let second = Duration::from_secs(1) + SLACK;
    for time in 0..2 * TIMES {
        if time == TIMES {
            wait_until("empty queue", second, || round.lock.queue().is_empty());
            round.release(&mut holder);
        }
        // A round trip takes a few hundred µs.
        let micros = round.any_number(time, 1_500);
        let command = round.command("drop", LONG, PATIENCE, &micros.to_string());
        let answer = caller.ask(&command, PATIENCE);
        let expected = answer == "dropped" || time >= TIMES && answer.starts_with("held ");
        assert!(expected, "{answer}");
    }
    wait_until("end of all", second, || {
        round.lock.value().is_none() && round.lock.queue().is_empty()
    });
}

/// A body panics: the lock is released immediately.
fn body_panics(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut panicking = round.worker();
    panicking.send(&round.command("run", LONG, PATIENCE, "panic"));
    round.wait_for_queue(1);
    let mut next = round.waiter(LONG);
    let released = round.release(&mut holder);
    assert_eq!(panicking.line(PATIENCE).as_deref(), Some("panicked"));
    round.let_in(&mut next, released, Duration::ZERO);
}

/// A body blocks the only thread of its runtime: its lease is still renewed.
fn body_blocks(round: &mut Round<'_>) {
    let ttl = KEPT;
    let time = ttl * 2;
    let mut blocking = round.worker();
    let block = format!("block {}", time.as_millis());
    blocking.send(&round.command("run-alone", ttl, PATIENCE, &block));
    wait_until("holder", PATIENCE, || round.lock.value().is_some());
    // The body visits the resource as soon as it starts.
    let mut next = round.worker();
    next.send(&round.command("run", LONG, PATIENCE, ""));
    for worker in [blocking, next] {
        assert_eq!(worker.line(PATIENCE).as_deref(), Some("written"));
    }
}

/// A body blocks in its first poll until its lock is lost, before its waker is registered for the
/// loss. Then it awaits forever.
fn body_blocks_past_its_lease(round: &mut Round<'_>) {
    let (proxy, blocking) = round.behind_a_proxy();
    let mut blocking = round.hold(blocking, TTL);
    blocking.send(&format!("stall {}", (TTL * 5 / 2).as_millis()));
    // No renewal gets through.
    proxy.requests(Mode::Hold);
    round.call_fails(&blocking, "Lost");
    proxy.heal();
    round.lost(&mut blocking);
}

/// A caller is not polled from its grant until another caller has the lock. Its body would then run
/// together with the other caller's.
fn caller_polled_late(round: &mut Round<'_>) {
    // Twice the time after which the background takes over from an unpolled caller.
    const RELIEF: Duration = Duration::from_millis(400);
    let (proxy, late) = round.behind_a_proxy();
    let mut next = round.worker();
    next.ask("idle", PATIENCE);
    let mut late = warmed(round, late);
    let begin = round.command("begin-fenced", TTL * 2, PATIENCE, "");
    // Occasionally the answer arrives during the first poll.
    while late.ask(&begin, PATIENCE) != "begun" {
        round.release(&mut late);
    }
    wait_until("grant", PATIENCE, || round.lock.value().is_some());
    let granted = Instant::now();
    wait_until("relief", PATIENCE, || granted.elapsed() > RELIEF);
    // No renewal gets through.
    proxy.requests(Mode::Hold);
    let end = round.lock.lease_end();
    round.comes(&mut next, LONG, end, Duration::ZERO);
    assert_eq!(next.ask("look", PATIENCE), "looked");
    late.send("finish");
    let answer = late.line(TTL);
    if answer.as_ref().is_some_and(|it| it.starts_with("held ")) {
        intrude(&mut late);
    }
    assert_eq!(next.ask("write", PATIENCE), "written");

    proxy.heal();
    round.release(&mut next);
    match answer {
        Some(answer) => assert!(answer.starts_with("failed Lost "), "{answer}"),
        // On a stalled machine, the lease had expired when its answer was read, and the caller asks
        // again.
        None => {
            round.granted(&late);
            round.release(&mut late);
        }
    }
}

/// A caller is never polled again after its first poll: neither its claim nor its lease keeps the
/// lock from the next caller for longer than its ttl.
fn caller_never_polled(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut absent = round.worker();
    let begin = round.command("begin", TTL, PATIENCE, "");
    assert_eq!(absent.ask(&begin, PATIENCE), "begun");
    round.wait_for_queue(1);
    let mut next = round.waiter(LONG);
    round.pass(&mut holder, &mut next, TTL + CLAIM);
    absent.send("finish");
    round.call_fails(&absent, "Lost");
}

/// The holder's `end` names the head of the local queue, with the head's ttl, and the head is gone
/// before the answer. The next local caller asked for a longer ttl, and stays inside for longer
/// than the granted lease.
fn first_in_line_gives_up(round: &mut Round<'_>) {
    let (proxy, line) = round.behind_a_proxy();
    let mut next = round.worker();
    next.ask("idle", PATIENCE);
    let mut line = round.hold(line, LONG);
    let begin = |line: &mut Worker, round: &Round<'_>, ttl| {
        let begin = round.command("begin", ttl, PATIENCE, "");
        assert_eq!(line.ask(&begin, PATIENCE), "begun");
    };
    // Loads the script that hands a lock off.
    begin(&mut line, round, PATIENCE);
    round.release(&mut line);
    line.send("finish");
    round.granted(&line);

    begin(&mut line, round, TTL);
    begin(&mut line, round, LONG);
    let owner = |round: &mut Round<'_>| round.lock.value().map(|value| value[..22].to_owned());
    let before = owner(round);
    proxy.replies(Mode::Hold);
    assert_eq!(line.ask("begin-release", PATIENCE), "begun");
    wait_until("hand-over", PATIENCE, || owner(round) != before);
    let end = round.lock.lease_end();
    assert_eq!(line.ask("forget", PATIENCE), "forgotten");
    proxy.heal();
    line.send("finish");
    round.granted(&line);
    // No command of the caller extends a lease that is too short.
    proxy.requests(Mode::Hold);

    // No other process gets in when the lease of the head has expired.
    round.ask(&mut next, LONG, PATIENCE);
    let beyond = end + TTL / 2;
    stays_out(
        &mut next,
        &mut line,
        beyond.saturating_duration_since(Instant::now()),
        "two hold it",
    );

    proxy.heal();
    assert_eq!(line.ask("finish-release", PATIENCE), "ok");
    round.pass(&mut line, &mut next, Duration::ZERO);
}

/// A runtime ends with a guard in one of its tasks: the lock is released without waiting for its
/// lease to end.
fn runtime_dropped(round: &mut Round<'_>) {
    let mut holder = round.worker();
    let mut next = round.worker();
    holder.send(&round.command("abandon", LONG, PATIENCE, ""));
    round.granted(&holder);
    let dropped = Instant::now();
    round.enters(&mut next, LONG, dropped, Duration::ZERO);
}

/// The same, and a crowd, on the memory backend: there is no server that could fail.
fn in_memory(round: &mut Round<'_>) {
    let mut worker = round.worker_at("memory://");
    let mut told = |command: &str, answer: &str| {
        let answered = worker.ask(command, PATIENCE * 4);
        assert!(answered.starts_with(answer), "{command}: {answered}");
    };
    // The crowd is one process, which is slow while others have the cores.
    let about = |verb: &str, rest: &str| round.command(verb, LONG, PATIENCE * 3, rest);
    // Each caller finds the lock free; otherwise it would wait for longer than the test.
    told(&about("run", "panic"), "panicked");
    told(&about("acquire", ""), "held ");
    told(&about("drop", "1000"), "dropped");
    told("release", "ok");
    told(&about("abandon", ""), "held ");
    told(&about("run-alone", "block 100"), "written");
    told(&about("hammer", "8 300"), "hammered ");
    told(&about("crowd", "1000"), "crowded 1000");
    told(&about("cycle", "1000"), "ok");
    told(&about("many", "10000"), "ok");
    told("release-many", "ok");
}
