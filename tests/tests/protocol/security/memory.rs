//! The records that a lock leaves on the server, for capacity planning.

use harness::{RedisServer, ask, client};
use lock_runtime::LockClient;
use redis::Connection;

use super::PAGE;

/// So many that constant costs do not matter.
const KEYS: u64 = 2_000;

async fn once(locks: &LockClient, name: &str) {
    let guard = locks.lock(name).fenced().acquire().await.unwrap();
    guard.release().await.unwrap();
}

fn used(connection: &mut Connection) -> u64 {
    let info: String = ask(connection, &["INFO", "memory"]);
    let used = info
        .lines()
        .find_map(|line| line.strip_prefix("used_memory:"));
    used.unwrap().trim().parse().unwrap()
}

/// The page's number.
fn printed() -> u64 {
    let (before, _) = PAGE.split_once(" bytes for each different key").unwrap();
    before
        .split_whitespace()
        .next_back()
        .unwrap()
        .parse()
        .unwrap()
}

#[tokio::test]
async fn a_key_without_a_requested_token_leaves_nothing() {
    let server = RedisServer::start();
    let locks = client(server.url());
    let guard = locks.lock("6b1f0c1e").acquire().await.unwrap();
    guard.release().await.unwrap();
    assert_eq!(ask::<u64>(&mut server.connection(), &["DBSIZE"]), 0);
}

#[tokio::test]
async fn a_key_leaves_as_much_as_the_page_states() {
    let server = RedisServer::start();
    let (locks, mut connection) = (client(server.url()), server.connection());
    // Allocates the scripts and buffers.
    for number in 0..100 {
        once(&locks, &format!("before:{number}")).await;
    }
    let (before, count) = (
        used(&mut connection),
        ask::<u64>(&mut connection, &["DBSIZE"]),
    );
    for number in 0..KEYS {
        once(&locks, &format!("6b1f0c1e-5f0a-4c3e-9d7b-{number:012}")).await;
    }
    assert_eq!(ask::<u64>(&mut connection, &["DBSIZE"]), count + KEYS);
    let each = (used(&mut connection) - before) / KEYS;
    // Servers and their allocators differ.
    let printed = printed();
    assert!(
        (printed / 2..printed * 3 / 2).contains(&each),
        "{each} bytes a key"
    );
}
