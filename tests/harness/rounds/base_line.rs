//! What there was before a round, and must be all that there is after it.

use std::time::{Duration, Instant};

use crate::scene::ask;
use crate::server::RedisServer;
use crate::wait::PATIENCE;
use crate::worker::Worker;

/// A dead waiter stays in the queue for 6 s, the queue itself for a second more, and what was lost
/// on the way is undone for 10 s: after this long, nothing has a reason to be there.
const LIMIT: Duration = PATIENCE;

/// No locks, no queues, no channels, no clients. Fences stay: a token must rise after a day of rest.
pub(super) fn of_server(server: &RedisServer) -> Result<(), String> {
    let mut connection = server.connection();
    settle(|| {
        let keys: Vec<String> = ask(&mut connection, &["KEYS", "*lock:*"]);
        let keys: Vec<_> = keys.iter().filter(|key| !key.ends_with("}:f")).collect();
        let channels: Vec<String> = ask(&mut connection, &["PUBSUB", "CHANNELS", "*"]);
        let list: String = ask(&mut connection, &["CLIENT", "LIST"]);
        // Ours, and that of the round's own eye.
        let clients = list.lines().count();
        let (count, some) = (keys.len(), &keys[..keys.len().min(5)]);
        let left = format!("{count} keys {some:?}, channels {channels:?}, {clients} clients");
        let clean = keys.is_empty() && channels.is_empty() && clients <= 2;
        if clean { Ok(()) } else { Err(left) }
    })
}

/// One task, that of the commands; one socket, that of the resource, once the client is shut down.
pub(super) fn of_worker(mut worker: Worker) -> Result<(), String> {
    // A client that is shut down waits for what is held.
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

/// The last word of `look`, unless it is content before the limit.
fn settle(mut look: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    let started = Instant::now();
    loop {
        match look() {
            Err(_) if started.elapsed() < LIMIT => crate::wait::pause(started.elapsed()),
            outcome => return outcome,
        }
    }
}
