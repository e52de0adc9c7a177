//! The lock of the redis-py package at the same key. No caller gets in while another is inside.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use harness::{LOCK, RedisServer, Worker, ask, client, hold};

use super::{LONG, exclude_each_other, lose_no_update, packages};

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
    exclude_each_other(&mut theirs, &ours, LOCK).await;
    // Neither kind releases the other's lock.
    assert_eq!(ask::<i64>(&mut server.connection(), &["DEL", LOCK]), 1);
    let guard = hold(&ours).await;
    assert_eq!(theirs.ask("release", LONG), "not ours");
    guard.release().await.expect("it is untouched");
}

#[tokio::test]
async fn redis_py_and_we_lose_no_update() {
    let server = RedisServer::start();
    let Some(theirs) = redis_py(&server, "redis_py_and_we_lose_no_update") else {
        return;
    };
    let ours = client(server.url());
    lose_no_update(&mut [theirs], &ours, LOCK, &server, 40).await;
}
