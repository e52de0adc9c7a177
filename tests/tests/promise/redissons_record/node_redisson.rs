//! A client that is not ours: the lock of npm's node-redisson, which is made to go with Redisson's.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::{LONG, RedisServer, Worker, ask, eventually, ms, soon};
use redis::Connection;

use super::{KEY, client, start};

/// The port, and the library that it needs beside it.
const PACKAGES: [&str; 2] = ["node-redisson@1.0.4", "ioredis@5"];

/// A folder with node-redisson, made once in cargo's folder for tests.
fn packages() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("node-redisson");
    let is_there = PACKAGES.iter().all(|package| {
        let (name, _) = package.split_once('@').expect("it has a version");
        folder.join("node_modules").join(name).exists()
    });
    if !is_there {
        let npm = [
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
        ];
        run(Command::new("npm").args(npm).arg(&folder).args(PACKAGES))?;
    }
    run(Command::new("node").arg("--version"))?;
    Ok(folder)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = || String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or_else(text)
}

/// A process with node-redisson. Where it cannot be installed, the run prints the test's name; with
/// `LOCK_REQUIRE_NODE_REDISSON` it fails.
fn node_redisson(server: &RedisServer, test: &str) -> Option<Worker> {
    let folder = match packages() {
        Ok(folder) => folder,
        Err(reason) => {
            let required = std::env::var_os("LOCK_REQUIRE_NODE_REDISSON").is_some();
            assert!(!required, "node-redisson cannot be had: {reason}");
            // Not by a macro, since its output is hidden in tests that pass.
            let told = writeln!(
                std::io::stderr(),
                "{test} DID NOT RUN, no node-redisson: {reason}"
            );
            told.expect("stderr is open");
            return None;
        }
    };
    // It uses other commands than the crate does.
    server.allow(&["+@all", "~redisson_*"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/promise/redissons_record/node_redisson.js");
    let words = [script, folder].map(|path| path.to_str().expect("it is text").to_owned());
    let port = server.port().to_string();
    Some(Worker::spawn("node", &[&words[0], &words[1], &port]))
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
    // A lease that ends in no test.
    let acquire = |wait: u128| format!("acquire {KEY} {wait} 600000");

    assert_eq!(theirs.ask(&acquire(0), LONG), "held");
    let busy = ours.lock(KEY).wait(ms(0)).await.unwrap_err();
    let holder = busy.holder().expect("it is busy");
    assert!(holder.starts_with("a Redisson client "), "{holder}");
    // It waits for a message or for the end of this lease, and misses a message that comes just after it has subscribed.
    let ttl = ms(4_000);
    let waiting = tokio::spawn(ours.lock(KEY).ttl(ttl).wait(LONG).acquire());
    has_a_listener(&mut admin).await;
    assert_eq!(theirs.ask("release", LONG), "released");
    let guard = soon(waiting).await.unwrap().unwrap();

    assert_eq!(theirs.ask(&acquire(0), LONG), "busy");
    theirs.send(&acquire(LONG.as_millis()));
    has_a_listener(&mut admin).await;
    guard.release().await.unwrap();
    assert_eq!(theirs.line(LONG).as_deref(), Some("held"));

    // Neither kind releases the other's lock.
    ask::<i64>(&mut admin, &["DEL", KEY]);
    let guard = ours.lock(KEY).wait(ms(0)).await.unwrap();
    assert_eq!(theirs.ask("release", LONG), "not ours");
    guard.release().await.expect("it is untouched");
}
