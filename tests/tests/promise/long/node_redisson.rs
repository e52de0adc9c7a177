//! A foreign client: the lock of npm's node-redisson, which is compatible with Redisson's.

use std::path::Path;

use harness::{LONG, RedisServer, Worker, ask, eventually, ms, soon};
use redis::Connection;

use super::packages;
use crate::redissons_record::{KEY, client, start};

/// The port, and the library that it needs as well.
const PACKAGES: [&str; 2] = ["node-redisson@1.0.4", "ioredis@5"];

/// A process with node-redisson, if it can be installed.
fn node_redisson(server: &RedisServer, test: &str) -> Option<Worker> {
    let folder = packages::node("node-redisson", &PACKAGES);
    let variable = "LOCK_REQUIRE_NODE_REDISSON";
    let folder = packages::installed(&folder, "node-redisson", variable, test)?;
    // It uses other commands than the crate does.
    server.allow(&["+@all", "~redisson_*"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promise/long/node_redisson.js");
    let [script, folder] = [&script, folder].map(packages::text);
    let port = server.port().to_string();
    Some(Worker::spawn("node", &[script, folder, &port]))
}

async fn has_a_listener(admin: &mut Connection) {
    eventually("listener", LONG, async || {
        let channels: Vec<String> = ask(admin, &["PUBSUB", "CHANNELS", "redisson_lock__channel:*"]);
        !channels.is_empty()
    })
    .await;
}

#[tokio::test]
async fn node_redisson_and_we_exclude_and_wake_each_other() {
    let (server, mut admin) = start();
    let test = "node_redisson_and_we_exclude_and_wake_each_other";
    let Some(mut theirs) = node_redisson(&server, test) else {
        return;
    };
    let ours = client(&server);
    // A lease that outlasts every test.
    let try_acquire = format!("acquire {KEY} 0 600000");

    assert_eq!(theirs.ask(&try_acquire, LONG), "held");
    let busy = ours.lock(KEY).wait(ms(0)).await.unwrap_err();
    let holder = busy.holder().expect("it is busy");
    assert!(holder.starts_with("a Redisson client "), "{holder}");
    // It waits for a message or for the end of this lease, and misses a message that arrives just after it has
    // subscribed.
    let ttl = ms(4_000);
    let waiting = tokio::spawn(ours.lock(KEY).ttl(ttl).wait(LONG).acquire());
    has_a_listener(&mut admin).await;
    assert_eq!(theirs.ask("release", LONG), "released");
    let guard = soon(waiting).await.unwrap().unwrap();

    assert_eq!(theirs.ask(&try_acquire, LONG), "busy");
    // With a time limit, it would give up at the end of this lease.
    theirs.send(&format!("lock {KEY} 600000"));
    has_a_listener(&mut admin).await;
    guard.release().await.unwrap();
    assert_eq!(theirs.line(LONG).as_deref(), Some("held"));

    // Neither kind releases the other's lock.
    ask::<i64>(&mut admin, &["DEL", KEY]);
    let guard = ours.lock(KEY).wait(ms(0)).await.unwrap();
    assert_eq!(theirs.ask("release", LONG), "not ours");
    guard.release().await.expect("it is untouched");
}
