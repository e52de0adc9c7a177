//! Many locks.

use std::fs;

use harness::{RedisServer, ask};
use redis::Connection;

use crate::doctor::fit;
use crate::{Running, done, lockctl, text};

const LOCKS: usize = 100_000;

/// The token of lock 0. The token of every other lock is higher by the lock's number.
const FIRST_TOKEN: usize = 1_700_000_000_000_000;

/// The most memory that listing this many locks may take (kB).
const MEMORY: u64 = 60 * 1024;

/// Fills a server with a service's locks, and as many other keys.
pub(crate) fn fill(connection: &mut Connection, locks: usize) {
    for batch in 0..locks / 1_000 {
        let mut pipe = redis::pipe();
        for number in batch * 1_000..(batch + 1) * 1_000 {
            let owner = format!("{number:022}");
            let record = format!("{owner} {:016} api-7 (pid 4121) ship", FIRST_TOKEN + number);
            let name = format!("lock:order:{number}");
            pipe.cmd("SET")
                .arg(&name)
                .arg(record)
                .arg("PX")
                .arg(600_000)
                .ignore();
            pipe.cmd("SET")
                .arg(format!("{{{name}}}:f"))
                .arg(16)
                .ignore();
        }
        let _: () = pipe.query(connection).expect("the server takes them");
    }
}

/// The peak memory of a process (kB).
fn most_memory(process: u32) -> u64 {
    let status =
        fs::read_to_string(format!("/proc/{process}/status")).expect("it has not been waited for");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.expect("the kernel reports it").trim();
    most.split(' ')
        .next()
        .expect("a number")
        .parse()
        .expect("a number")
}

/// How often the server has received a command.
pub(crate) fn calls(connection: &mut Connection, command: &str) -> usize {
    let stats: String = ask(connection, &["INFO", "commandstats"]);
    let head = format!("cmdstat_{command}:calls=");
    let calls = stats.lines().find_map(|line| line.strip_prefix(&head));
    calls.map_or(0, |calls| {
        calls
            .split(',')
            .next()
            .expect("a number")
            .parse()
            .expect("a number")
    })
}

#[test]
fn list_is_printed_as_it_is_found_in_small_steps() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    fill(connection, LOCKS);

    let output = done(&server, &["list", "--limit", "1"]);
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let first = calls(connection, "scan");
    assert!(first <= 20, "{first} reads before the first line");

    let mut running = Running::start(lockctl(&server, &["list"]));
    let mut lines = running.lines();
    // The full pipe blocks the program: locks that it has read are in its memory, or printed.
    let seen = lines.by_ref().take(LOCKS).count();
    assert_eq!(seen, LOCKS);
    assert!(lines.next().is_none());
    let looks = calls(connection, "scan") - first;
    // In small steps, so that other clients need not wait.
    assert!(looks >= 2 * LOCKS / 500, "{looks} reads");
    assert!(running.ended().success());
}

#[test]
fn memory_of_a_list_does_not_grow_with_it() {
    let server = RedisServer::start();
    fill(&mut server.connection(), LOCKS);
    let mut running = Running::start(lockctl(&server, &["list"]));
    let mut lines = running.lines();
    // All but the last lines, so that the program still runs.
    assert_eq!(lines.by_ref().take(LOCKS * 9 / 10).count(), LOCKS * 9 / 10);
    let memory = most_memory(running.0.id());
    println!("{memory} kB to list");
    assert!(memory <= MEMORY, "{memory} kB");
    assert_eq!(lines.count(), LOCKS / 10);
}

#[test]
fn commands_about_one_lock_read_no_other() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    fill(connection, LOCKS);
    let token = (FIRST_TOKEN + 7).to_string();
    let about_one: [&[&str]; 5] = [
        &["inspect", "order:7"],
        &[
            "revoke", "order:7", "--yes", "--reason", "stuck", "--token", &token,
        ],
        &["audit"],
        &["hold", "order:7", "--for", "50ms", "--reason", "test"],
        &["run", "order:7", "--", "true"],
    ];
    for command in about_one {
        let output = done(&server, command);
        assert!(
            output.status.success(),
            "{command:?}: {}",
            text(&output.stderr)
        );
    }
    assert_eq!(calls(connection, "scan"), 0);
}

#[test]
fn doctor_samples_many_locks() {
    let server = fit();
    let connection = &mut server.connection();
    fill(connection, LOCKS);
    let output = lockctl(&server, &["doctor", "--sample", "100"])
        .env("LOCK_URL", server.admin_url())
        .output()
        .expect("the program starts");
    let said = text(&output.stdout);
    assert!(
        said.contains("examined, among a part of the keys"),
        "{said}"
    );
    // A hundred keys for each lock of the sample, scanned for locks and again for fences, in pages of 500.
    let pages = calls(connection, "scan");
    assert!((21..=50).contains(&pages), "{pages} pages");
}
