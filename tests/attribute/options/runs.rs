//! `runs`: how a call of a locked function ended.

use lock_runtime::inspect::RunOutcome;
use lock_runtime::{LockClient, LockError, distributed_lock};

#[derive(Debug)]
enum Refusal {
    Own,
    Lock,
}

impl From<LockError> for Refusal {
    fn from(_: LockError) -> Refusal {
        Refusal::Lock
    }
}

#[derive(Clone, Copy)]
enum Way {
    Return,
    Fail,
    Panic,
    Sleep,
}

async fn go(way: Way) -> Result<u8, Refusal> {
    match way {
        Way::Return => Ok(1),
        Way::Fail => Err(Refusal::Own),
        Way::Panic => panic!("as told"),
        Way::Sleep => std::future::pending().await,
    }
}

#[distributed_lock(key = "job", runs = 20, client = locks)]
async fn job(locks: &LockClient, way: Way) -> Result<u8, Refusal> {
    go(way).await
}

#[distributed_lock(key = "job", runs = 20, client = locks)]
fn blocking_job(locks: &LockClient, way: Way) -> Result<u8, Refusal> {
    match way {
        Way::Return => Ok(1),
        Way::Fail => Err(Refusal::Own),
        Way::Panic => panic!("as told"),
        Way::Sleep => unreachable!("it would never end"),
    }
}

/// The last run, of this many.
async fn last(locks: &LockClient, count: usize) -> RunOutcome {
    let mut runs = locks.runs("job").await.unwrap();
    assert_eq!(runs.len(), count, "{runs:?}");
    let run = runs.remove(0);
    assert!(run.label.ends_with("job"), "{run:?}");
    run.outcome
}

#[tokio::test(start_paused = true)]
async fn run_of_a_locked_function_ends_as_its_call_does() {
    let locks = LockClient::memory();
    job(&locks, Way::Return).await.unwrap();
    assert_eq!(last(&locks, 1).await, RunOutcome::Done);
    job(&locks, Way::Fail).await.unwrap_err();
    assert_eq!(last(&locks, 2).await, RunOutcome::Failed);
    let panics = locks.clone();
    let panicked = tokio::spawn(async move { job(&panics, Way::Panic).await });
    assert!(panicked.await.unwrap_err().is_panic());
    assert_eq!(last(&locks, 3).await, RunOutcome::Panicked);
    let sleeps = tokio::time::timeout(std::time::Duration::from_secs(5), job(&locks, Way::Sleep));
    sleeps.await.unwrap_err();
    let run = locks.runs("job").await.unwrap().remove(0);
    assert_eq!(run.outcome, RunOutcome::Cancelled);
    assert_eq!(
        run.took(),
        Some(std::time::Duration::from_secs(5)),
        "paused time counts"
    );
}

#[tokio::test]
async fn run_of_a_blocking_function_ends_as_its_call_does() {
    let locks = LockClient::memory();
    blocking_job(&locks, Way::Return).unwrap();
    assert_eq!(last(&locks, 1).await, RunOutcome::Done);
    blocking_job(&locks, Way::Fail).unwrap_err();
    assert_eq!(last(&locks, 2).await, RunOutcome::Failed);
    let panics = locks.clone();
    let panicked = std::thread::spawn(move || blocking_job(&panics, Way::Panic));
    panicked.join().unwrap_err();
    assert_eq!(last(&locks, 3).await, RunOutcome::Panicked);
}

/// The number may be an expression, which is checked when the call is made.
#[tokio::test]
async fn number_of_runs_may_be_an_expression() {
    #[distributed_lock(key = "kept", runs = kept, client = locks)]
    async fn keeping(locks: &LockClient, kept: u32) -> Result<(), LockError> {
        Ok(())
    }

    let locks = LockClient::memory();
    for _ in 0..5 {
        keeping(&locks, 2).await.unwrap();
    }
    assert_eq!(locks.runs("kept").await.unwrap().len(), 2);
    let error = keeping(&locks, 1_001).await.unwrap_err();
    assert!(error.to_string().contains("between 1 and 1000"), "{error}");
}
