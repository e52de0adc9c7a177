//! Bodies that a test interrupts at each of their awaits: `testing::lose_at_each_await`.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use harness::ms;
use lock_runtime::testing::{self, lose_at_each_await};
use lock_runtime::{LockClient, LockError, distributed_lock};
use tokio::runtime::Builder;
use tokio::task::{LocalSet, yield_now};
use tokio::time::{Instant, sleep};

/// What bodies do, in order.
#[derive(Default)]
struct Log(RefCell<Vec<&'static str>>);

impl Log {
    fn note(&self, what: &'static str) {
        self.0.borrow_mut().push(what);
    }

    fn take(&self) -> Vec<&'static str> {
        self.0.take()
    }
}

/// Notes its drop.
struct Noted<'a>(&'a Log, &'static str);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.0.note(self.1);
    }
}

#[distributed_lock(key = "invoice:<id>", ttl = "10s", wait = "60s", client = locks)]
async fn pay(locks: &LockClient, id: u64, log: &Log) -> Result<(), LockError> {
    let _connection = Noted(log, "closed");
    log.note("asks");
    sleep(ms(100)).await;
    log.note("charges");
    yield_now().await;
    log.note("writes");
    Ok(())
}

/// Runs a test under paused time, and returns the text of its panic.
fn panic_of(test: impl AsyncFnOnce()) -> String {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let run = || runtime.block_on(test());
    text_of(&*catch_unwind(AssertUnwindSafe(run)).expect_err("it panics"))
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
}

#[tokio::test(start_paused = true)]
async fn lock_is_lost_once_in_each_run_and_never_in_the_last() {
    let runs = RefCell::new(Vec::new());
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let log = Log::default();
        let paid = pay(locks, 7, &log).await.map_err(|error| {
            assert!(error.is_lost(), "{error}");
        });
        let lost_at = Instant::now();
        if paid.is_err() {
            log.note("|");
            pay(locks, 7, &log).await.expect("it is lost only once");
            assert_eq!(lost_at.elapsed(), ms(100), "the lock is free at once");
        }
        runs.borrow_mut().push(log.take());
    });
    assert_eq!(tried.await.awaits, 2);
    let whole = ["asks", "charges", "writes", "closed"];
    assert_eq!(
        runs.into_inner(),
        [
            [&["asks", "closed", "|"], &whole[..]].concat(),
            [&["asks", "charges", "closed", "|"], &whole[..]].concat(),
            whole.to_vec(),
        ]
    );
}

#[test]
fn failure_names_the_await_the_function_and_its_place() {
    let text = panic_of(async || {
        let _ = lose_at_each_await(async |locks: &LockClient| {
            let log = Log::default();
            let _ = pay(locks, 7, &log).await;
            assert_ne!(log.take(), ["asks", "charges", "closed"], "charged blindly");
        })
        .await;
    });
    let first = "pay does not survive the loss of its lock at await 1, its own number 1: ";
    assert!(text.starts_with(first), "{text}");
    for part in [
        "charged blindly",
        "\nlock: `invoice:<id>`, key \"invoice:7\", taken at ",
        concat!(file!(), ":"),
        "\nto run this one alone: `.only(1)`",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn failure_without_a_loss_is_the_tests_own() {
    let text = panic_of(async || {
        let test = async |locks: &LockClient| {
            let paid = pay(locks, 7, &Log::default()).await;
            assert!(paid.is_err(), "the whole body");
        };
        let _ = lose_at_each_await(test).await;
    });
    assert_eq!(text, "the whole body");
}

#[tokio::test(start_paused = true)]
async fn only_runs_the_test_once_at_that_await() {
    let runs = RefCell::new(Vec::new());
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let log = Log::default();
        let _ = pay(locks, 7, &log).await;
        runs.borrow_mut().push(log.take());
    });
    assert_eq!(tried.only(1).await.awaits, 1);
    assert_eq!(runs.into_inner(), [["asks", "charges", "closed"]]);
}

#[test]
fn only_at_an_await_that_is_never_reached_fails() {
    let text = panic_of(async || {
        let test = async |locks: &LockClient| pay(locks, 7, &Log::default()).await.unwrap();
        let _ = lose_at_each_await(test).only(2).await;
    });
    assert_eq!(text, "await 2 was not reached: the test has 2");
}

/// Each of two locks is lost while the inner body sleeps: the inner one alone, and both.
#[tokio::test(start_paused = true)]
async fn nested_bodies_lose_each_of_their_locks() {
    let ends = RefCell::new(Vec::new());
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let log = Log::default();
        let outcome = locks
            .lock("day")
            .run(async |_| pay(locks, 7, &log).await.is_err());
        let end = match outcome.await {
            Ok(inner_is_lost) => inner_is_lost.then_some("inner"),
            Err(error) => Some(error.key().map_or("", |_| "outer")),
        };
        ends.borrow_mut().push(end);
    });
    assert_eq!(tried.await.awaits, 4);
    let (inner, outer) = (Some("inner"), Some("outer"));
    assert_eq!(ends.into_inner(), [inner, outer, inner, outer, None]);
}

/// The outermost body under the lost lock is dropped first: its own code must not go on without the lock.
#[tokio::test(start_paused = true)]
async fn body_that_enters_its_own_lock_again_is_dropped_as_a_whole() {
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let log = Log::default();
        let outcome = locks.lock("invoice:7").run(async |_| {
            let _ = pay(locks, 7, &log).await;
            log.note("goes on");
        });
        let is_lost = outcome.await.is_err();
        assert_eq!(is_lost, !log.take().contains(&"goes on"));
    });
    assert_eq!(tried.await.awaits, 4);
}

#[tokio::test(start_paused = true)]
async fn bodies_of_all_tasks_are_counted() {
    let lost = RefCell::new(Vec::new());
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let tasks = LocalSet::new();
        let calls = [1, 2].map(|id| {
            let locks = locks.clone();
            tasks.spawn_local(async move { pay(&locks, id, &Log::default()).await.is_err() })
        });
        tasks.await;
        for (id, call) in [1, 2].into_iter().zip(calls) {
            if call.await.unwrap() {
                lost.borrow_mut().push(id);
            }
        }
    });
    assert_eq!(tried.await.awaits, 4);
    assert_eq!(lost.into_inner(), [1, 2, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn body_that_may_finish_goes_on_without_its_lock() {
    #[distributed_lock(key = "import", on_lost = "finish", client = locks)]
    async fn import(locks: &LockClient) -> Result<u32, LockError> {
        sleep(ms(100)).await;
        let next = locks.lock("import").reentrant(false).wait(ms(0));
        let seen = tokio::spawn(next.acquire()).await.unwrap();
        Ok(u32::from(seen.is_ok()))
    }

    let free = RefCell::new(Vec::new());
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let imported = import(locks).await.unwrap();
        free.borrow_mut().push(imported);
    });
    assert_eq!(tried.await.awaits, 2);
    assert_eq!(
        free.into_inner(),
        [1, 1, 0],
        "lost at each of two awaits, and held"
    );
}

#[tokio::test(start_paused = true)]
async fn guards_and_synchronous_bodies_have_no_awaits() {
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let guard = locks.lock("import").await.unwrap();
        sleep(ms(100)).await;
        assert!(guard.is_valid());
        let run = locks
            .lock("report")
            .run_blocking(|_| std::thread::yield_now());
        run.unwrap();
    });
    assert_eq!(tried.await.awaits, 0);
}

#[tokio::test(start_paused = true)]
async fn client_of_each_run_is_new_and_installed_if_asked() {
    #[distributed_lock(key = "import")]
    async fn import() -> Result<(), LockError> {
        sleep(ms(100)).await;
        Ok(())
    }

    let mut kept = Vec::new();
    let tried = lose_at_each_await(async |locks: &LockClient| {
        kept.push(locks.lock("kept").wait(ms(0)).await.expect("a new client"));
        import()
            .await
            .or_else(|lost| lost.is_lost().then_some(()).ok_or(lost))
            .unwrap();
    });
    assert_eq!(tried.installed().await.awaits, 1);
    assert!(LockClient::installed().is_err());
    assert_eq!(kept.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn thousand_awaits_are_tried_one_by_one() {
    let polls = Cell::new(0_u32);
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let body = async |_: &_| {
            for _ in 0..1_000 {
                polls.update(|polls| polls + 1);
                yield_now().await;
            }
        };
        let _ = locks.lock("import").run(body).await;
    });
    assert_eq!(tried.await.awaits, 1_000);
    assert_eq!(polls.get(), (1..=1_000).sum::<u32>() + 1_000);
}

/// All locks of the process stay taken for one ttl: those of the bodies, and those of guards of all kinds.
#[tokio::test(start_paused = true)]
async fn killed_process_runs_no_destructor_and_leaves_its_locks_to_their_ttl() {
    let ends = RefCell::new(Vec::new());
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let log = Rc::new(Log::default());
        let process = testing::process(locks, async {
            let _reading = locks.lock("report").read().await.unwrap();
            let _several = locks.lock_all(["a", "b"]).await.unwrap();
            pay(locks, 7, &log).await
        });
        if let Some(paid) = process.await {
            ends.borrow_mut().push(log.take());
            return paid.unwrap();
        }
        ends.borrow_mut().push(log.take());
        let killed = Instant::now();
        for key in ["invoice:7", "report", "a", "b"] {
            let busy = locks.lock(key).wait(ms(0)).await.unwrap_err();
            assert!(busy.is_busy(), "{key}: {busy}");
        }
        pay(locks, 7, &log).await.expect("the next caller");
        assert_eq!(killed.elapsed(), ms(10_100));
        let all = locks.lock_all(["a", "b", "report"]).wait(ms(60_000));
        drop(all.await.unwrap());
        assert_eq!(killed.elapsed(), ms(30_000));
    });
    assert_eq!(tried.crash().await.awaits, 2);
    assert_eq!(
        ends.into_inner(),
        [
            vec!["asks"],
            vec!["asks", "charges"],
            vec!["asks", "charges", "writes", "closed"]
        ]
    );
}

/// A waiter learns that its holder was killed, and gets the lock when the ttl is over.
#[tokio::test(start_paused = true)]
async fn waiter_behind_a_killed_process_is_served_after_the_ttl() {
    let tried = lose_at_each_await(async |locks: &LockClient| {
        let log = Log::default();
        let first = testing::process(locks, pay(locks, 7, &log));
        let next = async {
            yield_now().await;
            let started = Instant::now();
            drop(locks.lock("invoice:7").wait(ms(60_000)).await.unwrap());
            started.elapsed()
        };
        let (first, waited) = tokio::join!(first, next);
        let expected = if first.is_none() { 10_000 } else { 100 };
        assert!(
            waited >= ms(expected) && waited <= ms(expected + 100),
            "{waited:?}"
        );
    });
    // The waiter wakes the task once while the payment sleeps.
    assert_eq!(tried.crash().await.awaits, 3);
}

#[test]
fn failure_after_a_crash_says_so() {
    let text = panic_of(async || {
        let test = async |locks: &LockClient| {
            let log = Log::default();
            let process = testing::process(locks, pay(locks, 7, &log));
            assert!(process.await.is_some(), "killed");
        };
        let _ = lose_at_each_await(test).crash().await;
    });
    let first = "pay does not survive a crash at await 0, its own number 0: killed\nlock: ";
    assert!(text.starts_with(first), "{text}");
}

#[test]
fn crash_without_a_process_fails() {
    let text = panic_of(async || {
        let test = async |locks: &LockClient| pay(locks, 7, &Log::default()).await.unwrap();
        let _ = lose_at_each_await(test).crash().await;
    });
    assert!(
        text.contains("no body slept inside of `testing::process`"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn process_that_no_test_kills_only_runs_its_future() {
    let locks = LockClient::memory();
    let log = Log::default();
    let paid = testing::process(&locks, pay(&locks, 7, &log)).await;
    paid.expect("it ends by itself").unwrap();
    assert_eq!(log.take(), ["asks", "charges", "writes", "closed"]);
}
