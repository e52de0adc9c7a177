//! Four conditions that any lock must meet: one holder at a time, no deadlock after a crash, a
//! majority of nodes suffices, only the owner unlocks. The third is about several nodes, the fourth
//! is all over this suite.

use harness::{History, Worker};

use super::{KEY, LONG, RedisServer, client, hold, soon};

fn worker(server: &RedisServer) -> Worker {
    let (locks, resource) = (server.url(), server.admin_url());
    Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &[&locks, &resource])
}

#[test]
fn one_holder_at_a_time_in_two_processes() {
    let server = RedisServer::start();
    let mut workers = [worker(&server), worker(&server)];
    for worker in &mut workers {
        worker.send(&format!("hammer {KEY} 30000 20000 4 500"));
    }
    for worker in &workers {
        let tally = worker.line(LONG).expect("an answer");
        assert!(!tally.contains('='), "failures: {tally}");
    }
    let visits = History::of(KEY).read(&mut server.connection());
    assert!(visits.len() > 10, "{} visits", visits.len());
    History::assert_exclusive(&visits);
}

#[tokio::test]
async fn no_deadlock_after_a_crash() {
    let server = RedisServer::start();
    let mut crashing = worker(&server);
    let held = crashing.ask(&format!("acquire {KEY} 1000 0"), LONG);
    assert!(held.starts_with("held "), "{held}");
    crashing.kill9();
    let next = soon(hold(&client(server.url()))).await;
    next.release().await.unwrap();
}
