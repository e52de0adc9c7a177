//! The lock of the redis-py package at the same key. No caller gets in while another is inside.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use harness::{KEY, LOCK, LONG, RedisServer, Worker, ask, client, hold, ms};
use lock_runtime::LockGuard;
use redis::AsyncCommands;

use super::packages;

const ROUNDS: usize = 40;

/// The counter that all callers increment, by a read and a write.
const COUNTER: &str = "counter";

/// A Python with redis-py. Tests that run at the same time install it once.
static PYTHON: LazyLock<Result<PathBuf, String>> =
    LazyLock::new(|| packages::python("redis-py", &["redis>=5,<9"], "redis"));

/// A process with redis-py, if that can be installed.
fn redis_py(server: &RedisServer, test: &str) -> Option<Worker> {
    let python = packages::installed(&PYTHON, "redis-py", "LOCK_REQUIRE_REDIS_PY", test)?;
    // It may use other commands than the crate does, and its counter has a key of its own.
    server.allow(&["~*", "+@all"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promise/long/redis_py.py");
    let [python, script] = [python, &script].map(packages::text);
    Some(Worker::spawn(python, &[script, &server.port().to_string()]))
}

#[tokio::test]
async fn redis_py_and_we_exclude_each_other() {
    let server = RedisServer::start();
    let Some(mut theirs) = redis_py(&server, "redis_py_and_we_exclude_each_other") else {
        return;
    };
    let ours = client(server.url());
    let acquire = format!("acquire {LOCK} 60");

    assert_eq!(theirs.ask(&acquire, LONG), "held");
    let busy = ours.lock(KEY).wait(ms(0)).acquire().await.unwrap_err();
    assert!(busy.is_busy(), "{busy}");
    let waiting = tokio::spawn(ours.lock(KEY).wait(LONG).acquire());
    assert_eq!(theirs.ask("release", LONG), "released");
    let guard = waiting.await.unwrap().unwrap();

    assert_eq!(theirs.ask(&acquire, LONG), "busy");
    guard.release().await.unwrap();
    assert_eq!(theirs.ask(&acquire, LONG), "held");
    // Neither kind releases the other's lock.
    assert_eq!(ask::<i64>(&mut server.connection(), &["DEL", LOCK]), 1);
    let guard = hold(&ours).await;
    assert_eq!(theirs.ask("release", LONG), "not ours");
    guard.release().await.expect("it is untouched");
}

#[tokio::test]
async fn redis_py_and_we_lose_no_update() {
    let server = RedisServer::start();
    let Some(mut theirs) = redis_py(&server, "redis_py_and_we_lose_no_update") else {
        return;
    };
    theirs.send(&format!("count {LOCK} {ROUNDS} {COUNTER}"));
    let ours = client(server.url());
    let connection = server.async_connection().await;
    for _ in 0..ROUNDS {
        let count = async |_: &LockGuard| {
            let mut connection = connection.clone();
            let seen: Option<usize> = connection.get(COUNTER).await.unwrap();
            let next = seen.unwrap_or(0) + 1;
            let () = connection.set(COUNTER, next).await.unwrap();
        };
        let counted = ours.lock(KEY).wait(2 * LONG).run(count).await;
        counted.expect("it was held throughout");
    }
    assert_eq!(theirs.line(2 * LONG).as_deref(), Some("counted"));
    let counted: usize = ask(&mut server.connection(), &["GET", COUNTER]);
    assert_eq!(counted, 2 * ROUNDS);
}
