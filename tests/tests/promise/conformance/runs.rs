//! The runs that calls record, and how each of them ended.

use std::mem;
use std::panic::AssertUnwindSafe;

use harness::{eventually, failed};
use lock_runtime::inspect::{Run, RunOutcome};
use lock_runtime::{Acquire, LockClient, LockErrorKind, LockGuard};

use super::store::Store;
use super::tools::{KEY, LONG, STEADY, ms, on_a_thread};

/// A client of the store, and one that reads; `None` where calls that record their runs are refused.
async fn clients(store: &Store) -> Option<(LockClient, LockClient)> {
    let (client, operator) = (store.client(), store.operator());
    if store.records_runs {
        return Some((client, operator));
    }
    let refused = failed(
        client.lock(KEY).runs(3).acquire().await,
        LockErrorKind::InvalidOptions,
    );
    let read = failed(client.runs(KEY).await, LockErrorKind::InvalidOptions);
    for error in [refused, read] {
        let words = "a quorum has no run history";
        assert!(error.to_string().contains(words), "{error}");
    }
    None
}

pub(super) fn job(client: &LockClient, key: &str) -> Acquire {
    client.lock(key).ttl(STEADY).wait(LONG).runs(3)
}

/// The runs of a key, once there are as many: no call waits until its run is recorded.
pub(super) async fn begun(client: &LockClient, key: &str, count: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    eventually("recorded runs", LONG, async || {
        runs = client.runs(key).await.unwrap();
        runs.len() == count
    })
    .await;
    runs
}

/// The same, once the end of each is recorded.
async fn runs_of(client: &LockClient, key: &str, count: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    eventually("ended runs", LONG, async || {
        runs = begun(client, key, count).await;
        runs.iter().all(|run| run.ended.is_some())
    })
    .await;
    runs
}

/// Waits until the only run of the key has died.
pub(super) async fn has_died(client: &LockClient) {
    eventually("run that died", LONG, async || {
        begun(client, KEY, 1).await[0].outcome == RunOutcome::Died
    })
    .await;
}

pub(super) async fn outcomes(client: &LockClient, key: &str, count: usize) -> Vec<RunOutcome> {
    let runs = runs_of(client, key, count).await;
    runs.into_iter().map(|run| run.outcome).collect()
}

pub(crate) async fn each_end_of_a_run_is_recorded(store: Store) {
    let Some((client, operator)) = clients(&store).await else {
        return;
    };
    use RunOutcome::{Cancelled, Done, Failed, Lost, Panicked};
    job(&client, "done").run(async |_| ()).await.unwrap();
    let guard = job(&client, "released").acquire().await.unwrap();
    guard.release().await.unwrap();
    let blocks = job(&client, "blocks");
    on_a_thread(move || blocks.run_blocking(|_| ()).unwrap()).await;
    let marked = async |guard: &LockGuard| guard.mark_failed();
    job(&client, "failed").run(marked).await.unwrap();
    drop(job(&client, "dropped").acquire().await.unwrap());
    let never = job(&client, "cancelled");
    let cancelled = never.run(async |_| std::future::pending::<()>().await);
    let held = async || !client.held().is_empty();
    tokio::select! {
        _ = cancelled => unreachable!("it has no end"),
        () = eventually("body", LONG, held) => {}
    }
    let panics = job(&client, "panicked");
    let panics = tokio::spawn(async move {
        let body = async |_: &_| std::panic::resume_unwind(Box::new(AssertUnwindSafe("as told")));
        panics.run(body).await
    });
    assert!(panics.await.unwrap_err().is_panic());
    let short = |key| client.lock(key).ttl(ms(300)).renew(false).runs(3);
    let lost = short("lost").run(async |_| std::future::pending::<()>().await);
    assert!(lost.await.unwrap_err().is_lost());
    let guard = short("lost guard").acquire().await.unwrap();
    guard.lost().await;
    assert!(guard.release().await.unwrap_err().is_lost());
    let guard = short("lost and dropped").acquire().await.unwrap();
    guard.lost().await;
    drop(guard);
    for (key, outcome) in [
        ("done", Done),
        ("released", Done),
        ("blocks", Done),
        ("failed", Failed),
        ("dropped", Cancelled),
        ("cancelled", Cancelled),
        ("panicked", Panicked),
        ("lost", Lost),
        ("lost guard", Lost),
        ("lost and dropped", Lost),
    ] {
        assert_eq!(outcomes(&operator, key, 1).await, [outcome], "{key}");
    }
}

pub(crate) async fn run_has_its_times_and_its_holder(store: Store) {
    let Some((client, operator)) = clients(&store).await else {
        return;
    };
    let took = ms(60);
    // From when its beginning is recorded.
    let body = async |_: &_| {
        begun(&operator, KEY, 1).await;
        tokio::time::sleep(took).await;
    };
    job(&client, KEY).name("hourly").run(body).await.unwrap();
    job(&client, KEY).run(async |_| ()).await.unwrap();
    let runs = runs_of(&operator, KEY, 2).await;
    assert!(runs[0].began >= runs[1].ended.unwrap(), "{runs:?}");
    // The server's clock counts whole milliseconds.
    assert!(runs[1].took().unwrap() >= took - ms(1), "{runs:?}");
    let process = format!("(pid {}) hourly", std::process::id());
    assert!(runs[1].label.ends_with(&process), "{runs:?}");
}

/// As if its process had crashed.
pub(crate) async fn run_without_an_end_died_once_its_lock_is_over(store: Store) {
    let Some((client, operator)) = clients(&store).await else {
        return;
    };
    let lock = client.lock(KEY).ttl(ms(2_500)).renew(false).runs(3);
    mem::forget(lock.acquire().await.unwrap());
    let running = begun(&operator, KEY, 1).await;
    assert_eq!(running[0].outcome, RunOutcome::Running);
    has_died(&operator).await;
    let next = job(&client, KEY).acquire().await.unwrap();
    let runs = begun(&operator, KEY, 2).await;
    let all: Vec<_> = runs.iter().map(|run| &run.outcome).collect();
    assert_eq!(all, [&RunOutcome::Running, &RunOutcome::Died]);
    assert_eq!((runs[1].ended, runs[1].took()), (None, None));
    next.release().await.unwrap();
}

pub(crate) async fn nested_call_is_part_of_the_outermost_run(store: Store) {
    let Some((client, operator)) = clients(&store).await else {
        return;
    };
    let body = async |_: &LockGuard| {
        job(&client, KEY)
            .run(async |guard| guard.mark_failed())
            .await
            .unwrap();
        drop(job(&client, KEY).acquire().await.unwrap());
    };
    job(&client, KEY).run(body).await.unwrap();
    assert_eq!(outcomes(&operator, KEY, 1).await, [RunOutcome::Done]);
    // The outermost call decides whether anything is recorded.
    let body = async |_: &LockGuard| drop(job(&client, "silent").acquire().await.unwrap());
    client.lock("silent").run(body).await.unwrap();
    assert_eq!(operator.runs("silent").await.unwrap(), []);
}

/// The callers of one client take the lease over from one another.
pub(crate) async fn each_caller_of_a_client_has_a_run(store: Store) {
    let Some((client, operator)) = clients(&store).await else {
        return;
    };
    const CALLERS: usize = 5;
    let first = job(&client, KEY).acquire().await.unwrap();
    let callers: Vec<_> = (1..CALLERS)
        .map(|_| {
            let lock = client.lock(KEY).ttl(STEADY).wait(LONG).runs(10);
            tokio::spawn(async move { lock.run(async |_| tokio::task::yield_now().await).await })
        })
        .collect();
    tokio::time::sleep(ms(20)).await;
    first.release().await.unwrap();
    for caller in callers {
        caller.await.unwrap().unwrap();
    }
    let runs = runs_of(&operator, KEY, CALLERS).await;
    for run in &runs {
        assert_eq!(run.outcome, RunOutcome::Done, "{runs:?}");
    }
    // One ends before the next begins.
    for pair in runs.windows(2) {
        assert!(pair[1].ended.unwrap() <= pair[0].began, "{runs:?}");
    }
}

pub(crate) async fn only_the_last_runs_are_kept(store: Store) {
    let Some((client, operator)) = clients(&store).await else {
        return;
    };
    for round in 0..5 {
        let lock = client.lock(KEY).ttl(STEADY).runs(2);
        let body = async |guard: &LockGuard| {
            if round == 4 {
                guard.mark_failed();
            }
        };
        lock.run(body).await.unwrap();
    }
    let kept = outcomes(&operator, KEY, 2).await;
    assert_eq!(kept, [RunOutcome::Failed, RunOutcome::Done]);
    // A call that keeps fewer forgets the others.
    client.lock(KEY).runs(1).run(async |_| ()).await.unwrap();
    assert_eq!(outcomes(&operator, KEY, 1).await, [RunOutcome::Done]);
}

pub(crate) async fn number_of_runs_must_be_in_range(store: Store) {
    if !store.records_runs {
        return;
    }
    let client = store.client();
    for runs in [0, 1_001, u32::MAX] {
        let refused = client.lock(KEY).runs(runs).acquire().await;
        let error = failed(refused, LockErrorKind::InvalidOptions).to_string();
        let words = format!("`runs` must be between 1 and 1000, not {runs}");
        assert!(error.contains(&words), "{error}");
    }
    for runs in [1, 1_000] {
        let guard = client.lock(KEY).runs(runs).acquire().await.unwrap();
        guard.release().await.unwrap();
    }
    assert_eq!(store.operator().runs("unknown").await.unwrap(), []);
}
