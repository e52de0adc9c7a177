//! The worker that uses locks.

use harness::{History, PATIENCE, READ, RedisServer, Share, Worker};

/// A lock worker that shares its locks with nobody.
fn lock_worker(server: &RedisServer) -> Worker {
    Worker::spawn(
        env!("CARGO_BIN_EXE_lock-worker"),
        &["memory://", &server.url()],
    )
}

#[test]
fn lock_worker_holds_its_locks_in_the_given_mode() {
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

    // From here on the lock is shared.
    worker.ask_mode("read");
    let together = "together order:42 30000 1000 5";
    assert_eq!(worker.ask(together, PATIENCE), "ok");
    assert_eq!(worker.ask("release-many", PATIENCE), "ok");
    let entries = History::of("order:42").read(&mut server.connection());
    let shares: Vec<_> = entries.iter().map(|entry| entry.share).collect();
    assert_eq!(shares, [Some(Share::permits(2, 3)), None, Some(READ)]);
}
