//! Clients in other languages, whose packages are installed from their registries, in the long form only.

mod node_redisson;
mod packages;
mod redis_py;
mod redlock_clients;

use harness::{KEY, LONG, RedisServer, Worker, ask, failed, ms, served};
use lock_runtime::{LockClient, LockErrorKind, LockGuard};
use redis::AsyncCommands;

/// No caller gets in while another is inside. The other client names our lock `name`.
async fn exclude_each_other(theirs: &mut Worker, ours: &LockClient, name: &str) {
    let acquire = format!("acquire {name} 60");
    assert_eq!(theirs.ask(&acquire, LONG), "held");
    failed(ours.lock(KEY).wait(ms(0)).await, LockErrorKind::Busy);
    let waiting = tokio::spawn(ours.lock(KEY).wait(LONG).acquire());
    assert_eq!(theirs.ask("release", LONG), "released");
    let guard = served(waiting).await;
    assert_eq!(theirs.ask(&acquire, LONG), "busy");
    guard.release().await.expect("it was held throughout");
    assert_eq!(theirs.ask(&acquire, LONG), "held", "it is free again");
}

/// All callers increment a counter on the server, by a read and a write.
async fn lose_no_update(
    theirs: &mut [Worker],
    ours: &LockClient,
    name: &str,
    server: &RedisServer,
    rounds: usize,
) {
    const COUNTER: &str = "counter";
    for worker in &mut *theirs {
        worker.send(&format!("count {name} {rounds} {COUNTER}"));
    }
    let connection = server.async_connection().await;
    for _ in 0..rounds {
        let count = async |_: &LockGuard| {
            let mut connection = connection.clone();
            let seen: Option<usize> = connection.get(COUNTER).await.unwrap();
            let next = seen.unwrap_or(0) + 1;
            let () = connection.set(COUNTER, next).await.unwrap();
        };
        let counted = ours.lock(KEY).wait(2 * LONG).run(count).await;
        counted.expect("it was held throughout");
    }
    for worker in &mut *theirs {
        assert_eq!(worker.line(2 * LONG).as_deref(), Some("counted"));
    }
    let counted: usize = ask(&mut server.connection(), &["GET", COUNTER]);
    assert_eq!(counted, (1 + theirs.len()) * rounds);
}
