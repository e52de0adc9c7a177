use std::thread::ThreadId;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::*;

/// A bound that only a failing test reaches.
const LONG: Duration = Duration::from_secs(20);

fn background() -> Background {
    Background::get().expect("there is one")
}

fn here() -> ThreadId {
    std::thread::current().id()
}

/// Assigns a task that waits for a notification, and reports on which threads it ran before and after.
fn assign(offloaded: &Arc<OffloadedTask>) -> (Arc<Notify>, oneshot::Receiver<[ThreadId; 2]>) {
    let (reply, answer) = oneshot::channel();
    let notify = Arc::new(Notify::new());
    let notified = notify.clone();
    let task = Box::pin(async move {
        let first = here();
        notified.notified().await;
        let _ = reply.send([first, here()]);
    });
    offloaded.assign(&background(), task);
    (notify, answer)
}

fn watched() -> usize {
    WATCHED_TASKS.0.lock().by_number.len()
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.expect("it is done")
}

async fn poll_once(
    runner: &mut InlineRunner,
    answer: &mut oneshot::Receiver<[ThreadId; 2]>,
) -> bool {
    let mut waiting = Box::pin(runner.wait_for(answer));
    poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx).is_ready())).await
}

#[tokio::test]
async fn waiting_caller_polls_its_task() {
    let mut runner = InlineRunner::new(&background());
    let (notify, mut answer) = assign(runner.offloaded());
    // Several checks pass, and the caller is there at each.
    let notifying = tokio::spawn(async move {
        for _ in 0..4 {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        notify.notify_one();
    });
    let threads = soon(runner.wait_for(&mut answer)).await;
    assert_eq!(threads, Some([here(), here()]));
    notifying.await.unwrap();
}

#[tokio::test]
async fn task_of_a_dropped_caller_goes_on_in_the_background() {
    let mut runner = InlineRunner::new(&background());
    let (notify, mut answer) = assign(runner.offloaded());
    assert!(!poll_once(&mut runner, &mut answer).await);
    drop(runner);
    notify.notify_one();
    let [first, last] = soon(answer).await.unwrap();
    assert_eq!(first, here());
    assert_ne!(last, here());
}

#[tokio::test]
async fn task_assigned_after_the_caller_was_dropped_runs_in_the_background() {
    let runner = InlineRunner::new(&background());
    let offloaded = runner.offloaded().clone();
    drop(runner);
    let (notify, answer) = assign(&offloaded);
    notify.notify_one();
    assert!(!soon(answer).await.unwrap().contains(&here()));
}

/// As when the runtime is blocked, or the caller's future is not polled.
#[tokio::test]
async fn woken_task_that_is_not_polled_moves_to_the_background() {
    let mut runner = InlineRunner::new(&background());
    let (notify, mut answer) = assign(runner.offloaded());
    assert!(!poll_once(&mut runner, &mut answer).await);
    notify.notify_one();
    let [first, last] = soon(&mut answer).await.unwrap();
    assert_eq!(first, here());
    assert_ne!(last, here());
}

#[tokio::test]
async fn assigned_task_that_is_never_polled_moves_to_the_background() {
    let runner = InlineRunner::new(&background());
    let (notify, answer) = assign(runner.offloaded());
    notify.notify_one();
    assert!(!soon(answer).await.unwrap().contains(&here()));
    drop(runner);
}

/// An executor inside a poll would never poll the caller again.
#[tokio::test]
async fn caller_without_budget_is_answered_by_its_first_poll() {
    while tokio::task::coop::has_budget_remaining() {
        tokio::task::coop::consume_budget().await;
    }
    let mut runner = InlineRunner::new(&background());
    let (notify, mut answer) = assign(runner.offloaded());
    notify.notify_one();
    let mut waiting = Box::pin(runner.wait_for(&mut answer));
    let polled = waiting
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready());
}

#[tokio::test]
async fn panicking_task_ends_its_caller_and_no_other() {
    let caller = tokio::spawn(async {
        let mut runner = InlineRunner::new(&background());
        let (_reply, mut answer) = oneshot::channel::<()>();
        let task = Box::pin(async { panic!("on purpose") });
        runner.offloaded().assign(&background(), task);
        runner.wait_for(&mut answer).await
    });
    assert!(soon(caller).await.unwrap_err().is_panic());
    let mut runner = InlineRunner::new(&background());
    let (notify, mut answer) = assign(runner.offloaded());
    notify.notify_one();
    assert!(soon(runner.wait_for(&mut answer)).await.is_some());
}

#[tokio::test]
async fn done_task_is_not_watched() {
    for _ in 0..100 {
        let mut runner = InlineRunner::new(&background());
        let (notify, mut answer) = assign(runner.offloaded());
        notify.notify_one();
        soon(runner.wait_for(&mut answer)).await.unwrap();
    }
    // Tasks of other tests are watched too, and end as well.
    soon(async {
        while watched() > 0 {
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
    let mut runner = InlineRunner::new(&background());
    let (notify, mut answer) = assign(runner.offloaded());
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let mut cx = Context::from_waker(&waker);
    let mut waiting = Box::pin(runner.wait_for(&mut answer));
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
    notify.notify_one();
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert!(waiting.as_mut().poll(&mut cx).is_ready());
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn task_that_wakes_itself_during_a_poll_is_polled_again_by_its_caller() {
    let mut runner = InlineRunner::new(&background());
    let (reply, mut answer) = oneshot::channel();
    let task = Box::pin(async move {
        let mut is_first = true;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            match mem::take(&mut is_first) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        })
        .await;
        let _ = reply.send(here());
    });
    runner.offloaded().assign(&background(), task);
    assert_eq!(soon(runner.wait_for(&mut answer)).await, Some(here()));
}
