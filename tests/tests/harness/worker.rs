//! Worker processes: answers, silence, death; and the worker that uses locks.

use std::time::Duration;

use harness::{History, PATIENCE, READ, RedisServer, Share, Worker, wait_until};

const SHORT: Duration = Duration::from_millis(100);

/// A worker that answers each line with itself.
fn echo() -> Worker {
    Worker::spawn(
        "sh",
        &["-c", r#"while read -r line; do echo "$line"; done"#],
    )
}

#[test]
fn a_worker_answers_line_by_line() {
    let mut worker = echo();
    assert_eq!(worker.ask("one", PATIENCE), "one");
    worker.send("two");
    worker.send("three");
    assert_eq!(worker.line(PATIENCE).as_deref(), Some("two"));
    assert_eq!(worker.line(PATIENCE).as_deref(), Some("three"));
}

#[test]
fn a_stopped_worker_is_silent_and_goes_on() {
    let mut worker = echo();
    assert_eq!(worker.ask("one", PATIENCE), "one");
    worker.stop();
    worker.send("two");
    assert_eq!(worker.line(SHORT), None);
    worker.cont();
    assert_eq!(worker.line(PATIENCE).as_deref(), Some("two"));
}

#[test]
fn a_killed_worker_is_silent() {
    let mut worker = echo();
    worker.kill9();
    assert_eq!(worker.line(PATIENCE), None);
}

/// A lock worker whose locks are its own.
fn lock_worker(server: &RedisServer) -> Worker {
    Worker::spawn(
        env!("CARGO_BIN_EXE_lock-worker"),
        &["memory://", &server.url()],
    )
}

#[test]
fn a_lock_worker_acquires_visits_and_releases() {
    let server = RedisServer::start();
    let mut worker = lock_worker(&server);
    let held = worker.ask("acquire order:42 30000 1000", PATIENCE);
    let token: u64 = held.strip_prefix("held ").expect(&held).parse().unwrap();
    assert_eq!(worker.ask("valid", PATIENCE), "true");
    assert_eq!(worker.ask("renew", PATIENCE), "ok");
    for _ in 0..2 {
        assert_eq!(worker.ask("look", PATIENCE), "looked");
        assert_eq!(worker.ask("write", PATIENCE), "written");
    }
    assert_eq!(worker.ask("release", PATIENCE), "ok");
    let failed = worker.ask("acquire order:42 1 0", PATIENCE);
    assert!(failed.starts_with("failed InvalidOptions "), "{failed}");

    let entries = History::of("order:42").read(&mut server.connection());
    let pid = worker.pid().to_string();
    let seen: Vec<_> = entries
        .iter()
        .map(|e| (e.token, e.seen, &e.writer))
        .collect();
    assert_eq!(seen, [(token, 0, &pid), (token, 1, &pid)]);
}

#[test]
fn a_lock_worker_hammers() {
    let server = RedisServer::start();
    let mut worker = lock_worker(&server);
    let tally = worker.ask("hammer order:42 30000 10000 8 200", PATIENCE);
    let entries = History::of("order:42").read(&mut server.connection());
    assert!(!entries.is_empty());
    assert_eq!(tally, format!("hammered {}", entries.len()));
    History::assert_exclusive(&entries);
}

#[test]
fn lock_worker_holds_its_locks_in_the_mode_that_it_was_told() {
    let server = RedisServer::start();
    let mut worker = lock_worker(&server);
    let token = |worker: &mut Worker, command: &str| -> u64 {
        let held = worker.ask(command, PATIENCE);
        let token = held.strip_prefix("held ").expect(&held).parse().unwrap();
        for command in ["look", "write"] {
            worker.ask(command, PATIENCE);
        }
        token
    };
    let acquire = "acquire order:42 30000 1000";
    worker.ask_mode("permits 3 take 2");
    token(&mut worker, acquire);
    assert_eq!(worker.ask("release", PATIENCE), "ok");
    worker.ask_mode("write");
    let written = token(&mut worker, acquire);
    let read = token(&mut worker, "downgrade");
    assert!(written < read, "{written} {read}");

    // The lock is shared from now on.
    worker.ask_mode("read");
    let together = "together order:42 30000 1000 5";
    assert_eq!(worker.ask(together, PATIENCE), "ok");
    assert_eq!(worker.ask("release-many", PATIENCE), "ok");
    let entries = History::of("order:42").read(&mut server.connection());
    let shares: Vec<_> = entries.iter().map(|entry| entry.share).collect();
    assert_eq!(shares, [Some(Share::permits(2, 3)), None, Some(READ)]);
}

/// The negative control: locks that two processes do not share exclude nothing, and the register shows
/// it.
#[test]
fn hammering_without_a_common_lock_is_noticed() {
    let server = RedisServer::start();
    let mut workers = [lock_worker(&server), lock_worker(&server)];
    let mut connection = server.connection();
    wait_until("double entry", PATIENCE, || {
        for worker in &mut workers {
            worker.send("hammer order:42 30000 10000 4 50");
        }
        for worker in &workers {
            worker.line(PATIENCE).expect("a tally");
        }
        let entries = History::of("order:42").read(&mut connection);
        !History::double_entries(&entries).is_empty()
    });
}

#[test]
fn lock_workers_exclude_each_other() {
    let server = RedisServer::start();
    let url = server.url();
    let start = || Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &[&url, &url]);
    let mut workers = [start(), start(), start()];
    for worker in &mut workers {
        worker.send("hammer order:42 30000 10000 4 500");
    }
    let mut visits = 0;
    for worker in &workers {
        let tally = worker.line(PATIENCE).expect("a tally");
        let own = tally
            .strip_prefix("hammered ")
            .and_then(|own| own.parse::<usize>().ok());
        let own = own.unwrap_or_else(|| panic!("failures: {tally}"));
        assert!(own > 0, "a worker starved");
        visits += own;
    }
    let entries = History::of("order:42").read(&mut server.connection());
    assert_eq!(entries.len(), visits);
    History::assert_exclusive(&entries);
}
