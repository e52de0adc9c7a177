//! A process that records its runs is killed.

use std::time::Duration;

use harness::{KEY, LONG, PATIENCE, eventually, patient};
use lock_runtime::inspect::RunOutcome;

use crate::scene::{Scene, acquire, is_held};

#[tokio::test]
async fn run_of_a_killed_process_died_when_its_lock_is_over() {
    let scene = Scene::new();
    let viewer = patient(scene.server.admin_url()).build().unwrap();
    let ttl = Duration::from_secs(5);
    let recording = || {
        let mut worker = scene.worker();
        assert_eq!(worker.ask("runs 5", PATIENCE), "ok");
        is_held(&worker.ask(&acquire(ttl), PATIENCE));
        worker
    };
    let mut killed = recording();
    // No call waits until its run is recorded.
    let begun = async || !viewer.runs(KEY).await.unwrap().is_empty();
    eventually("beginning", LONG, begun).await;
    let runs = viewer.runs(KEY).await.unwrap();
    assert_eq!(runs[0].outcome, RunOutcome::Running);
    let process = format!("(pid {})", killed.pid());
    assert!(runs[0].label.contains(&process), "{runs:?}");
    killed.kill9();
    // It has the lock until its ttl is over.
    let outcome = async || viewer.runs(KEY).await.unwrap()[0].outcome.clone();
    eventually("run that died", LONG, async || {
        outcome().await == RunOutcome::Died
    })
    .await;
    let mut next = recording();
    assert_eq!(next.ask("release", PATIENCE), "ok");
    eventually("next run", LONG, async || {
        let runs = viewer.runs(KEY).await.unwrap();
        let all: Vec<_> = runs.iter().map(|run| run.outcome.as_str()).collect();
        all == ["done", "died"]
    })
    .await;
}
