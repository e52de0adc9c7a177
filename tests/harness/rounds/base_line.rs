//! The server's state before a round, which must be its state after the round.

use std::time::{Duration, Instant};

use crate::scene::ask;
use crate::server::RedisServer;
use crate::stalls::ran_since;
use crate::wait::PATIENCE;
use crate::worker::Worker;

/// A dead waiter stays in the queue for 6 s and the queue for a second more; a lost command is
/// undone for 10 s. After this time, no record has a reason to exist.
const LIMIT: Duration = PATIENCE;

/// The channel on which sentinels discover each other.
const SENTINELS: &str = "__sentinel__:hello";

/// Checks that no locks, queues, channels or clients remain. Fences stay, since a token must rise
/// after a day without locks, and so does the marker of a quorum's node, which records that the
/// node has not lost its data.
pub(super) fn of_server(server: &RedisServer) -> Result<(), String> {
    if !server.is_up() {
        return Err("a server does not answer".to_owned());
    }
    let mut connection = server.connection();
    settle(|| {
        let keys: Vec<String> = ask(&mut connection, &["KEYS", "*lock:*"]);
        let stays = |key: &&String| key.ends_with("}:f") || key.ends_with("}:n");
        let keys: Vec<_> = keys.iter().filter(|key| !stays(key)).collect();
        let channels: Vec<String> = ask(&mut connection, &["PUBSUB", "CHANNELS", "*"]);
        let channels: Vec<_> = channels.iter().filter(|name| **name != SENTINELS).collect();
        let list: String = ask(&mut connection, &["CLIENT", "LIST"]);
        // The harness, the replicas and the sentinels log in as the same user, and a primary is a client of its
        // replica.
        let is_harness = format!(" user={} ", crate::acl::NAME);
        let is_left = |line: &&str| !line.contains(&is_harness) && !line.contains(" flags=M");
        let clients: Vec<_> = list.lines().filter(is_left).collect();
        let (count, some) = (keys.len(), &keys[..keys.len().min(5)]);
        let left = format!("{count} keys {some:?}, channels {channels:?}, clients {clients:?}");
        let clean = keys.is_empty() && channels.is_empty() && clients.is_empty();
        if clean { Ok(()) } else { Err(left) }
    })
}

/// Checks for one task, for the commands, and one socket, for the resource, once the client is shut
/// down.
pub(super) fn of_worker(mut worker: Worker) -> Result<(), String> {
    // A client that shuts down waits for held locks.
    worker.send("shutdown");
    let answer = worker.line(LIMIT);
    if answer.as_deref() != Some("ok") {
        return Err(format!("a worker answered {answer:?} to its shutdown"));
    }
    settle(|| {
        let idle = worker.ask("idle", PATIENCE);
        if idle == "idle 1 1" {
            Ok(())
        } else {
            Err(format!("a worker's tasks and sockets: {idle}"))
        }
    })
}

/// The last finding of `look`, or none if it finds nothing wrong before the limit.
fn settle(mut look: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    let started = Instant::now();
    loop {
        match look() {
            Err(_) if ran_since(started) < LIMIT => crate::wait::pause(started.elapsed()),
            outcome => return outcome,
        }
    }
}
