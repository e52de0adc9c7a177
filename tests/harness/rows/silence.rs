//! Connections that stay open, but carry nothing, or carry it too late.

use super::*;

rows! {
    E reply_late, walked;
    E reply_slow, walked;
    E renewal_slow, walked;
    E renewal_past_its_lease;
    E black_hole;
    E half_open;
}

/// Writes are paused for longer than the command timeout: an attempt is answered after its caller
/// has gone.
fn reply_late(round: &mut Round<'_>) {
    let late = round.worker();
    let mut late = warmed(round, late);
    round
        .lock
        .command::<()>(&["CLIENT", "PAUSE", "10000", "WRITE"]);
    round.refused(&mut late, (LONG, Duration::ZERO), "Unavailable");
    round.lock.command::<()>(&["CLIENT", "UNPAUSE"]);
    let unpaused = Instant::now();
    let mut next = round.worker();
    round.enters(&mut next, LONG, unpaused, Duration::from_millis(500));
}

/// The delay of a slow answer: the part of the lease that a command may take, less a margin for a
/// busy machine.
const LATE: Duration = Duration::from_millis(900);

/// The ttl of a lease that is granted slowly: long enough to be of use.
const SLOW: Duration = Duration::from_secs(4);

/// A worker with a command timeout of twice the delay of the answers, however busy the machine is.
fn patient(round: &Round<'_>, proxy: &Proxy) -> Worker {
    round.worker_at(&format!("{} timeout={}", proxy.url(), 2 * LATE.as_millis()))
}

/// The answer to an acquire takes a large part of its lease. A holder that counted the lease from
/// the answer would still be inside when the next one gets in.
fn reply_slow(round: &mut Round<'_>) {
    let proxy = round.proxy();
    let holder = patient(round, &proxy);
    let mut next = round.worker();
    let mut holder = warmed(round, holder);
    next.ask("idle", PATIENCE);

    proxy.replies(Mode::Delay(LATE));
    round.ask(&mut holder, SLOW, PATIENCE);
    wait_until("grant", PATIENCE, || round.lock.value().is_some());
    // No renewal gets through.
    proxy.requests(Mode::Hold);
    succeed(round, &mut next);
    let granted = holder.line(Duration::ZERO);
    // A caller that requests its token afterwards fails, since that request no longer gets through.
    let is_held = granted
        .as_deref()
        .map(|granted| granted.starts_with("held"));
    if is_held == Some(true) {
        intrude_if_valid(&mut holder);
    }
    assert_eq!(next.ask("write", PATIENCE), "written");

    proxy.heal();
    round.release(&mut next);
    match is_held {
        Some(true) => round.lost(&mut holder),
        Some(false) => {}
        // On a stalled machine, the attempt timed out and was repeated.
        None => {
            round.granted(&holder);
            round.release(&mut holder);
        }
    }
}

/// The same for a renewal: the answer takes a large part of the lease.
fn renewal_slow(round: &mut Round<'_>) {
    let proxy = round.proxy();
    let holder = patient(round, &proxy);
    let mut next = round.worker();
    next.ask("idle", PATIENCE);
    let mut holder = round.hold(holder, SLOW);
    // The server knows the script, so the renewal is a single command, whose effect will be
    // visible.
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    let mut rest = round.lock.pttl();
    wait_until("age", PATIENCE, || {
        rest = round.lock.pttl();
        rest < 3_900
    });

    proxy.replies(Mode::Delay(LATE));
    holder.send("renew");
    wait_until("renewal", PATIENCE, || round.lock.pttl() > rest);
    proxy.requests(Mode::Hold);
    // A stalled machine may leave the renewal unanswered; then the lease is not renewed.
    holder.line(PATIENCE).expect("an answer");
    succeed(round, &mut next);
    intrude_if_valid(&mut holder);
    assert_eq!(next.ask("write", PATIENCE), "written");

    proxy.heal();
    round.release(&mut next);
    round.lost(&mut holder);
}

/// A renewal is carried out without an answer, the connection breaks, and the next one is silent until the holder has
/// lost its lease: a renewal that waited for the connection is not sent, although the server still has the lock.
fn renewal_past_its_lease(round: &mut Round<'_>) {
    let proxy = round.proxy();
    let holder = patient(round, &proxy);
    let mut holder = round.hold(holder, KEPT);
    // The server knows the script, so a renewal is a single command.
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    proxy.replies(Mode::Hold);
    let mut rest = round.lock.pttl();
    wait_until("renewal", PATIENCE, || {
        let before = std::mem::replace(&mut rest, round.lock.pttl());
        rest > before
    });
    proxy.requests(Mode::Hold);
    proxy.kill_connections();
    wait_until("end of the lease", PATIENCE, || {
        holder.ask("valid", PATIENCE) == "false"
    });
    let mut monitor = round.server.monitor();
    proxy.heal();
    assert_eq!(holder.ask("cycle elsewhere 8000 20000 1", PATIENCE), "ok");
    let sent = monitor.take();
    let is_renewal = |text: &str| text.contains(&round.lock.k);
    let renewal = sent.iter().find(|command| is_renewal(&command.text));
    assert!(renewal.is_none(), "a lost lease was renewed: {renewal:?}");
    round.lost(&mut holder);
}

/// `next` acquires the lock when its lease has ended, and begins a visit.
fn succeed(round: &mut Round<'_>, next: &mut Worker) {
    let end = round.lock.lease_end();
    round.comes(next, LONG, end, Duration::ZERO);
    assert!(Instant::now() >= end, "the lease was not respected");
    assert_eq!(next.ask("look", PATIENCE), "looked");
}

/// A holder uses its own clock.
fn intrude_if_valid(holder: &mut Worker) {
    if holder.ask("valid", PATIENCE) == "true" {
        intrude(holder);
    }
}

/// A holder has lost its connection: it gives up before its lease ends, and so does its body.
fn black_hole(round: &mut Round<'_>) {
    cut_off_guard(round);
    cut_off_body(round);
}

/// A guard uses the clock, however busy the machine is: while it is valid, the lock is neither free
/// nor another owner's.
fn cut_off_guard(round: &mut Round<'_>) {
    let (proxy, holder) = round.behind_a_proxy();
    let mut holder = round.hold(holder, TTL);
    proxy.black_hole();
    wait_until("end of the lease", PATIENCE, || {
        !round.lock.is_held_by(&holder)
    });
    assert_eq!(holder.ask("valid", PATIENCE), "false");
    let refused = holder.ask("release", PATIENCE);
    assert!(refused.starts_with("failed Lost "), "{refused}");
    proxy.heal();
}

/// The body is then dropped as soon as the machine runs it.
fn cut_off_body(round: &mut Round<'_>) {
    // A quarter of the ttl is more than a busy machine takes to drop a body.
    let ttl = TTL * 4;
    let (proxy, mut holder) = round.behind_a_proxy();
    // Long enough that the body would be inside together with the next one.
    let sleep = format!("sleep {}", (ttl * 3).as_millis());
    holder.send(&round.command("run", ttl, PATIENCE, &sleep));
    wait_until("holder", PATIENCE, || round.lock.value().is_some());
    let mut next = round.waiter(LONG);
    proxy.black_hole();
    let (since, end) = (Instant::now(), round.lock.lease_end());
    let limit = (end + ttl / 4).saturating_duration_since(since);
    let answer = holder.line(limit).expect("an answer in time");
    assert!(answer.starts_with("failed Lost "), "{answer}");
    round.granted_next(&next, since, ttl);
    round.visit(&mut next);

    // The commands that were held back arrive now.
    proxy.heal();
    round.release(&mut next);
    let mut holder = round.hold(holder, LONG);
    round.finish(&mut holder);
}

/// The server has lost the connection, and the client does not know: it reconnects in time to keep
/// its lease.
fn half_open(round: &mut Round<'_>) {
    let (proxy, holder) = round.behind_a_proxy();
    let mut holder = round.hold(holder, LONG);
    let accepted = proxy.accepted();
    proxy.half_open();
    let mut rest = round.lock.pttl();
    wait_until("renewal", PATIENCE, || {
        let before = std::mem::replace(&mut rest, round.lock.pttl());
        rest > before
    });
    assert!(proxy.accepted() > accepted, "over a new connection");
    assert_eq!(holder.ask("valid", PATIENCE), "true");
    round.finish(&mut holder);
}
