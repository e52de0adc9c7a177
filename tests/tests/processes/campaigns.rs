//! Three processes campaign for one lock, and another one watches who leads.

use std::time::Duration;

use harness::{KEY, LOCK, PATIENCE, Worker, client, ms, soon, wait_until};
use lock_runtime::inspect::Watch;

use crate::scene::Scene;

/// Leads as soon as it has the lock.
fn candidate(scene: &Scene, ttl: Duration) -> Worker {
    let mut worker = scene.worker();
    let (ttl, wait) = (ttl.as_millis(), ms(3_600_000).as_millis());
    worker.send(&format!("campaign {KEY} {ttl} {wait}"));
    worker
}

/// The token with which a process leads.
fn leads(worker: &Worker) -> u64 {
    let line = worker.line(PATIENCE).expect("it leads");
    let token = line
        .strip_prefix("held ")
        .and_then(|token| token.parse().ok());
    token.unwrap_or_else(|| panic!("{line}"))
}

/// The next leader that the watch sees, by its token. Between a crash and the next poll of a candidate there is none.
async fn seen(watch: &mut Watch) -> u64 {
    loop {
        let state = soon(watch.changed()).await.expect("it can be seen");
        let state = state.expect("the client is not shut down");
        if let Some(holder) = state.holders.first() {
            return holder.token.expect("a leader asks for its token").get();
        }
    }
}

#[tokio::test]
async fn one_of_three_processes_leads_and_a_watch_sees_each_leader_once() {
    let mut scene = Scene::new();
    // A service may not ask who holds a lock, unless it has a viewer's rights.
    let watching = client(scene.server.admin_url());
    let mut watch = watching.watch(KEY).every(ms(100));
    assert!(!soon(watch.changed()).await.unwrap().unwrap().is_held());

    // The leases outlive what follows.
    let first = candidate(&scene, PATIENCE);
    let mut tokens = vec![leads(&first)];
    let mut second = candidate(&scene, PATIENCE);
    wait_until("candidate", PATIENCE, || scene.lock.queue().len() == 1);
    let third = candidate(&scene, PATIENCE);
    wait_until("candidates", PATIENCE, || scene.lock.queue().len() == 2);
    assert_eq!(seen(&mut watch).await, tokens[0]);

    first.terminate();
    assert_eq!(first.line(PATIENCE).as_deref(), Some("stopped"));
    // By the release, and not by the second's next poll.
    assert!(scene.lock.is_held_by(&second));
    tokens.push(leads(&second));
    assert_eq!(seen(&mut watch).await, tokens[1]);

    second.kill9();
    // As if the rest of its lease had passed.
    let _: i64 = scene.lock.command(&["PEXPIRE", LOCK, "500"]);
    tokens.push(leads(&third));
    assert_eq!(seen(&mut watch).await, tokens[2]);

    third.terminate();
    assert_eq!(third.line(PATIENCE).as_deref(), Some("stopped"));
    assert!(!soon(watch.changed()).await.unwrap().unwrap().is_held());
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}
