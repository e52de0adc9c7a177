//! Connections that stay open and carry nothing, or carry it too late.

use std::time::{Duration, Instant};

use super::{LONG, TTL};
use crate::proxy::Proxy;
use crate::rounds::{Class, Round, Row};
use crate::wait::{PATIENCE, wait_until};

/// Writes stand still for longer than a command may take: an attempt is answered after its caller
/// has gone.
pub(super) const REPLY_LATE: Row = Row::new("reply_late", Class::E, reply_late);

fn reply_late(round: &mut Round<'_>) {
    let mut late = round.worker();
    // The scripts are known, so that the attempt is a single command.
    late = round.hold(late, LONG);
    round.release(&mut late);
    round
        .lock
        .command::<()>(&["CLIENT", "PAUSE", "10000", "WRITE"]);
    let answer = round.attempt(&mut late, LONG, Duration::ZERO);
    assert!(answer.starts_with("failed Unavailable "), "{answer}");
    round.lock.command::<()>(&["CLIENT", "UNPAUSE"]);
    let unpaused = Instant::now();
    let mut next = round.worker();
    round.ask(&mut next, LONG, PATIENCE);
    round.granted_next(&next, unpaused, Duration::from_millis(500));
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(late);
    round.retire(next);
}

/// A holder can reach nobody any more: it gives up before its lease ends.
pub(super) const BLACK_HOLE: Row = Row::new("black_hole", Class::E, black_hole);

fn black_hole(round: &mut Round<'_>) {
    let proxy = Proxy::start(round.server.port());
    let mut holder = round.worker_at(&proxy.url());
    // Long enough that it would be inside together with the next one.
    holder.send(&round.command("run", TTL, PATIENCE, "sleep 3000"));
    wait_until("holder", PATIENCE, || round.lock.value().is_some());
    let mut next = round.waiter(LONG);
    proxy.black_hole();
    let since = Instant::now();
    round.granted_next(&next, since, TTL);
    round.visit(&mut next);
    let answer = holder.line(PATIENCE).expect("an answer");
    assert!(answer.starts_with("failed Lost "), "{answer}");

    // What it sent meanwhile arrives now.
    proxy.heal();
    round.release(&mut next);
    let mut holder = round.hold(holder, LONG);
    round.visit(&mut holder);
    round.release(&mut holder);
    round.retire(holder);
    round.retire(next);
}

/// The server has forgotten the connection, and the client does not know: it makes a new one in
/// time to keep its lease.
pub(super) const HALF_OPEN: Row = Row::new("half_open", Class::E, half_open);

fn half_open(round: &mut Round<'_>) {
    let proxy = Proxy::start(round.server.port());
    let holder = round.worker_at(&proxy.url());
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
    round.visit(&mut holder);
    round.release(&mut holder);
    round.retire(holder);
}
