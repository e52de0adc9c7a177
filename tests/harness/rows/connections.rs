//! Connections that the server closes, and the messages that are lost with them.

use std::time::{Duration, Instant};

use super::LONG;
use crate::proxy::{Mode, Proxy};
use crate::rounds::{Class, Round, Row};
use crate::wait::PATIENCE;

/// Ten times a second all clients are thrown out.
pub(super) const CLIENTS_KILLED: Row = Row::new("clients_killed", Class::E, clients_killed);

fn clients_killed(round: &mut Round<'_>) {
    const TIME: Duration = Duration::from_millis(1_500);
    let mut storm = [Kill::Normal, Kill::Pubsub].into_iter().cycle();
    let mut last = Instant::now();
    round.hammer(3, LONG, TIME, |round| {
        if last.elapsed() >= Duration::from_millis(100) {
            last = Instant::now();
            kill(round, storm.next().expect("it goes on"));
        }
    });
}

/// Everybody's connection breaks in the moment of the hand-off: its waiter finds out by asking.
pub(super) const PUSH_LOST: Row = Row::new("push_lost", Class::E, push_lost);

fn push_lost(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    kill(round, Kill::Pubsub);
    kill(round, Kill::Normal);
    let released = Instant::now();
    round.release(&mut holder);
    round.granted_next(&waiter, released, Duration::from_secs(1));
    round.visit(&mut waiter);
    round.release(&mut waiter);
    round.retire(holder);
    round.retire(waiter);
}

/// A waiter is told that it was served, again and again, before and after it is true.
pub(super) const PUSH_DOUBLED: Row = Row::new("push_doubled", Class::E, push_doubled);

fn push_doubled(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let members = round.lock.queue_members();
    let (entry, _) = members
        .into_iter()
        .find(|&(_, ticket)| ticket > 0)
        .expect("somebody queues");
    let owner = &entry[..22];
    let push = |round: &mut Round<'_>| {
        let (channel, payload) = (
            format!("lock:{}", &owner[..8]),
            format!("{owner}{}", round.lock.k),
        );
        for _ in 0..20 {
            let heard: i64 = round.lock.command(&["PUBLISH", &channel, &payload]);
            assert_eq!(heard, 1, "the waiter listens");
        }
    };
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    push(round);
    // Time enough to believe it.
    assert_eq!(waiter.line(Duration::from_millis(300)), None);
    assert_eq!(holder.ask("write", PATIENCE), "written");
    let released = Instant::now();
    round.release(&mut holder);
    push(round);
    round.granted_next(&waiter, released, Duration::ZERO);
    push(round);
    round.visit(&mut waiter);
    round.release(&mut waiter);
    round.retire(holder);
    round.retire(waiter);
}

/// The message reaches a waiter that has given up: it passes the lock on.
pub(super) const PUSH_LATE: Row = Row::new("push_late", Class::E, push_late);

fn push_late(round: &mut Round<'_>) {
    const WAIT: Duration = Duration::from_secs(1);
    let proxy = Proxy::start(round.server.port());
    let mut holder = round.holder(LONG);
    let mut gone = round.worker_at(&proxy.url());
    round.ask(&mut gone, LONG, WAIT);
    round.wait_for_queue(1);
    let mut next = round.waiter(LONG);
    proxy.replies(Mode::Hold);
    let released = Instant::now();
    round.release(&mut holder);
    let answer = gone.line(PATIENCE).expect("an answer");
    assert!(answer.starts_with("failed "), "{answer}");
    proxy.heal();
    // It was asked to say so within a claim.
    round.granted_next(&next, released, super::CLAIM);
    round.visit(&mut next);
    round.release(&mut next);
    for worker in [holder, gone, next] {
        round.retire(worker);
    }
}

/// Which connections to close.
#[derive(Clone, Copy)]
enum Kill {
    Normal,
    Pubsub,
}

/// With RESP3 a connection that is subscribed also sends commands; either type may match.
fn kill(round: &mut Round<'_>, kind: Kill) {
    let kind = match kind {
        Kill::Normal => "normal",
        Kill::Pubsub => "pubsub",
    };
    let _: i64 = round
        .lock
        .command(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"]);
}
