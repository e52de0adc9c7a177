use std::sync::atomic::AtomicU64;
use std::thread::ThreadId;
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use super::watched_tasks::CHECK_INTERVAL;
use super::*;

/// The threads that a task ran on before and after it was notified.
type Threads = [ThreadId; 2];

/// A bound that only a failing test reaches.
const LONG: Duration = Duration::from_secs(20);

fn background() -> Background {
    Background::get().expect("there is one")
}

fn here() -> ThreadId {
    std::thread::current().id()
}

fn caller() -> (InlineRunner<Threads>, Reply<Threads>) {
    InlineRunner::new(&background())
}

/// A task that waits for a notification. It reports its threads before and after that to its caller and to a receiver.
struct Noting {
    notify: Arc<Notify>,
    threads: oneshot::Receiver<Threads>,
}

fn assign(offloaded: &Arc<Offloaded<Threads>>, reply: Reply<Threads>) -> Noting {
    let (note, threads) = oneshot::channel();
    let notify = Arc::new(Notify::new());
    let notified = notify.clone();
    let task = Box::pin(async move {
        let first = here();
        notified.notified().await;
        let noted = [first, here()];
        let _ = note.send(noted);
        let _ = reply.send(noted);
    });
    offloaded.assign(task);
    Noting { notify, threads }
}

fn caller_with_task() -> (InlineRunner<Threads>, Noting) {
    let (runner, reply) = caller();
    let task = assign(runner.offloaded(), reply);
    (runner, task)
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.expect("it is done")
}

async fn poll_once(runner: &mut InlineRunner<Threads>) -> bool {
    let mut waiting = Box::pin(runner.answer());
    poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_ready())).await
}

#[tokio::test]
async fn waiting_caller_polls_its_task() {
    let (mut runner, task) = caller_with_task();
    // The caller is polling at each of these checks.
    let notifying = tokio::spawn(async move {
        for _ in 0..4 {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        task.notify.notify_one();
    });
    let threads = soon(runner.answer()).await;
    assert_eq!(threads, Some([here(), here()]));
    notifying.await.unwrap();
}

#[tokio::test]
async fn task_of_a_dropped_caller_goes_on_in_the_background() {
    let (mut runner, task) = caller_with_task();
    assert!(!poll_once(&mut runner).await);
    drop(runner);
    task.notify.notify_one();
    let [first, last] = soon(task.threads).await.unwrap();
    assert_eq!(first, here());
    assert_ne!(last, here());
}

#[tokio::test]
async fn task_assigned_after_the_caller_was_dropped_runs_in_the_background() {
    let (runner, reply) = caller();
    let offloaded = runner.offloaded().clone();
    drop(runner);
    let task = assign(&offloaded, reply);
    task.notify.notify_one();
    assert!(!soon(task.threads).await.unwrap().contains(&here()));
}

/// The caller's runtime is blocked, or its future is not polled.
#[tokio::test]
async fn woken_task_that_is_not_polled_moves_to_the_background() {
    let (mut runner, task) = caller_with_task();
    assert!(!poll_once(&mut runner).await);
    task.notify.notify_one();
    let [first, last] = soon(task.threads).await.unwrap();
    assert_eq!(first, here());
    assert_ne!(last, here());
}

#[tokio::test]
async fn assigned_task_that_is_never_polled_moves_to_the_background() {
    let (runner, task) = caller_with_task();
    task.notify.notify_one();
    assert!(!soon(task.threads).await.unwrap().contains(&here()));
    drop(runner);
}

/// An executor inside a poll would never poll the caller again.
#[tokio::test]
async fn caller_without_budget_is_answered_by_its_first_poll() {
    while tokio::task::coop::has_budget_remaining() {
        tokio::task::coop::consume_budget().await;
    }
    let (mut runner, task) = caller_with_task();
    task.notify.notify_one();
    let mut waiting = Box::pin(runner.answer());
    let polled = waiting
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready());
}

#[tokio::test]
async fn panicking_task_ends_its_caller_and_no_other() {
    let caller = tokio::spawn(async {
        let (mut runner, _reply) = caller();
        let task = Box::pin(async { panic!("on purpose") });
        runner.offloaded().assign(task);
        runner.answer().await
    });
    assert!(soon(caller).await.unwrap_err().is_panic());
    let (mut runner, task) = caller_with_task();
    task.notify.notify_one();
    assert!(soon(runner.answer()).await.is_some());
}

#[tokio::test]
async fn done_task_is_not_watched() {
    for _ in 0..100 {
        let (mut runner, task) = caller_with_task();
        task.notify.notify_one();
        soon(runner.answer()).await.unwrap();
    }
    // Other tests' tasks are watched too, but they end.
    soon(async {
        while WATCHED_TASKS.number() > 0 {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    })
    .await;
}

/// A waker that counts.
#[derive(Default)]
struct Wakes(AtomicU64);

impl Wake for Wakes {
    fn wake(self: Arc<Wakes>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn answer_that_its_task_sends_during_a_poll_does_not_wake_the_caller_again() {
    let (mut runner, task) = caller_with_task();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let mut cx = Context::from_waker(&waker);
    let mut waiting = Box::pin(runner.answer());
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
    task.notify.notify_one();
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert!(waiting.as_mut().poll(&mut cx).is_ready());
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn task_that_wakes_itself_during_a_poll_is_polled_again_by_its_caller() {
    let (mut runner, reply) = InlineRunner::new(&background());
    let task = Box::pin(async move {
        let mut is_first = true;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if mem::take(&mut is_first) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        let _ = reply.send(here());
    });
    runner.offloaded().assign(task);
    assert_eq!(soon(runner.answer()).await, Some(here()));
}

/// The background polls the task, since the caller does not.
#[tokio::test]
async fn task_in_the_background_notices_that_its_caller_is_gone() {
    let (runner, reply) = InlineRunner::<()>::new(&background());
    let (is_there, caller_is_there) = oneshot::channel();
    let (is_gone, caller_is_gone) = oneshot::channel();
    runner.offloaded().assign(Box::pin(async move {
        let _ = is_there.send((reply.is_closed(), here()));
        reply.closed().await;
        let _ = is_gone.send(());
    }));
    let (is_closed, thread) = soon(caller_is_there).await.unwrap();
    assert!(!is_closed);
    assert_ne!(thread, here(), "nobody else polls it");
    drop(runner);
    soon(caller_is_gone).await.unwrap();
}

#[tokio::test]
async fn answer_to_a_caller_that_is_gone_comes_back() {
    let (runner, reply) = InlineRunner::new(&background());
    drop(runner);
    assert!(reply.is_closed());
    assert_eq!(reply.send(42), Err(42));
}
