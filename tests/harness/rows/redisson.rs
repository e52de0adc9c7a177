//! Locks in Redisson's record, which a stand-in for Redisson also takes.

use super::*;
use crate::worker::{Kind, Version};

rows! {
    E redisson_holder_killed on open;
    E redisson_message_lost on open;
    F redisson_forced_unlock on open;
}

/// The longest time between two polls.
const POLL: Duration = Duration::from_millis(200);

const JAVA: Kind = Kind::Redisson(Version::V4_7);

/// A server where all clients have the permissions that Redisson needs.
fn open() -> RedisServer {
    let server = RedisServer::start();
    server.allow(&["~*", "&*", "+@all"]);
    server
}

/// kill -9 of a holder, once Redisson's and once this crate's: the other one waits until the lease
/// ends.
fn redisson_holder_killed(round: &mut Round<'_>) {
    let mut java = round.worker_of(JAVA);
    round.ask(&mut java, TTL, PATIENCE);
    is_held(&java);
    let mut ours = listener(round, TTL);
    let lease = killed(round, java);
    round.granted_next(&ours, Instant::now(), TTL);
    assert!(Instant::now() >= lease, "the lease was not respected");
    round.visit(&mut ours);

    let mut java = round.worker_of(JAVA);
    round.ask(&mut java, LONG, PATIENCE);
    round.wait_for_channels(1);
    let lease = killed(round, ours);
    is_held(&java);
    assert!(Instant::now() >= lease, "the lease was not respected");
    assert_eq!(java.ask("release", PATIENCE), "ok");
}

/// A lock becomes free without a message: it was deleted, or the connection broke. The next poll
/// gets it.
fn redisson_message_lost(round: &mut Round<'_>) {
    let mut java = round.worker_of(JAVA);
    round.ask(&mut java, LONG, PATIENCE);
    is_held(&java);
    let mut ours = listener(round, LONG);
    java.kill9();
    java.ended(PATIENCE);
    round.lock.delete_record();
    round.granted_next(&ours, Instant::now(), POLL);
    round.visit(&mut ours);

    let proxy = round.proxy();
    let mut next = round.worker_of_at(Kind::InRedissonsRecord, &proxy.url());
    round.ask(&mut next, LONG, PATIENCE);
    round.wait_for_channels(1);
    proxy.refuse(true);
    proxy.kill_connections();
    round.wait_for_channels(0);
    round.release(&mut ours);
    let released = Instant::now();
    proxy.refuse(false);
    round.let_in(&mut next, released, SOON);
}

/// An operator's `forceUnlock`, while a holder is inside.
fn redisson_forced_unlock(round: &mut Round<'_>) {
    let mut holder = round.worker_of(Kind::InRedissonsRecord);
    round.ask(&mut holder, LONG, PATIENCE);
    round.granted(&holder);
    let mut next = listener(round, LONG);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    let end = round.lock.lease_end();
    round.lock.delete_record();
    let channel = format!("redisson_lock__channel:{{{}}}", round.lock.k);
    round.lock.command::<i64>(&["PUBLISH", &channel, "0"]);
    round.granted_next(&next, Instant::now(), POLL);
    round.visit(&mut next);

    assert_eq!(holder.ask("write", PATIENCE), "stale");
    let owner = fields(round);
    round.told(&mut holder, end);
    round.retire(holder);
    assert!(fields(round) == owner, "the new holder was affected");
    round.release(&mut next);
}

/// A process of this crate that waits for the lock, and listens.
fn listener(round: &mut Round<'_>, ttl: Duration) -> Worker {
    let mut worker = round.worker_of(Kind::InRedissonsRecord);
    round.ask(&mut worker, ttl, PATIENCE);
    round.wait_for_channels(1);
    worker
}

/// Kills a holder, and returns the end of its lease.
fn killed(round: &mut Round<'_>, mut holder: Worker) -> Instant {
    holder.kill9();
    holder.ended(PATIENCE);
    round.lock.lease_end()
}

/// Asserts that a worker without tokens is granted the lock.
#[track_caller]
fn is_held(worker: &Worker) {
    let answer = worker.line(PATIENCE);
    assert_eq!(answer.as_deref(), Some("held 0"));
}

/// The owner of the lock.
fn fields(round: &mut Round<'_>) -> Vec<String> {
    let name = round.lock.k.clone();
    round.lock.command(&["HKEYS", &name])
}
