//! Work of the background's that a caller does itself while it waits for it.
//!
//! It is polled in the caller's task, so that its commands and their answers cross no threads. But it
//! is not the caller's: others wait for what it does. So the keeper takes it over when the caller goes
//! away, and also when it was called and has not been polled for a while, because something blocks
//! its runtime or nobody polls the caller's future.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use foldhash::HashMap;
use tokio::sync::oneshot;
use tokio::task::coop::unconstrained;

use crate::background::Background;
use crate::background::panics::catch_panics;

/// The time between two looks at what callers do. One that was called before the last look and is not
/// polled by the next is relieved: soon enough to keep a place in a queue, and the hold on a lock.
const LOOK: Duration = Duration::from_millis(100);

/// After so many looks at nothing there are none until something is to be looked after.
const IDLE_LOOKS: u32 = 10;

/// Boxed where it is made: it may take kilobytes, and is not moved on its way to whoever does it.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Something to do, or a place for it.
pub(crate) struct OffloadedTask {
    number: u64,
    work: Mutex<Work>,
    caller: Mutex<Option<Waker>>,
    /// It was called and has not been polled since.
    called: AtomicBool,
    /// The same, at the last look.
    was_called: AtomicBool,
    /// Nothing of it is left to anybody.
    done: AtomicBool,
}

enum Work {
    /// None yet.
    Awaited,
    ToDo(Task),
    /// It is polled at this moment.
    UnderWay,
    /// It was done, or is done by the keeper, as all is that comes.
    Over,
}

impl OffloadedTask {
    fn new() -> Arc<OffloadedTask> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(OffloadedTask {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            work: Mutex::new(Work::Awaited),
            caller: Mutex::default(),
            called: AtomicBool::new(false),
            was_called: AtomicBool::new(false),
            done: AtomicBool::new(false),
        })
    }

    /// Has `task` done, by the caller if it is still there.
    pub(crate) fn assign(self: &Arc<OffloadedTask>, background: &Background, task: Task) {
        let mut work = self.work();
        if !matches!(*work, Work::Awaited) {
            drop(work);
            background.spawn(task);
            return;
        }
        // Before anybody can do it, who would then say that it need not be looked after.
        WATCHED.watch(background, self);
        *work = Work::ToDo(task);
        drop(work);
        self.wake_by_ref();
    }

    /// Goes on with what there is to do.
    fn poll(self: &Arc<OffloadedTask>, cx: &Context<'_>) {
        let caller = cx.waker().clone();
        let before = self.caller().replace(caller);
        drop(before);
        let mut work = self.work();
        let mut task = match mem::replace(&mut *work, Work::UnderWay) {
            Work::ToDo(task) => task,
            other => {
                *work = other;
                return;
            }
        };
        drop(work);
        self.called.store(false, Ordering::Release);
        self.was_called.store(false, Ordering::Relaxed);
        let waker = Waker::from(self.clone());
        // Without the mutex: what it calls may call this one. Should it panic, it is over.
        let over = OverWhenDropped(self);
        if task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            mem::forget(over);
            *self.work() = Work::ToDo(task);
        }
    }

    /// Has the keeper do what there is, and what may still come.
    fn leave(&self, background: &Background) {
        let mut work = self.work();
        if matches!(*work, Work::UnderWay) {
            // It is not late after all.
            return;
        }
        let left = mem::replace(&mut *work, Work::Over);
        drop(work);
        self.over();
        if let Work::ToDo(task) = left {
            background.spawn(task);
        }
    }

    /// Nobody has to look after it any longer.
    fn over(&self) {
        self.done.store(true, Ordering::Relaxed);
        WATCHED.forget(self);
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn caller(&self) -> MutexGuard<'_, Option<Waker>> {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What remains of an errand when its poll does not come back, or was the last one.
struct OverWhenDropped<'a>(&'a OffloadedTask);

impl Drop for OverWhenDropped<'_> {
    fn drop(&mut self) {
        let OverWhenDropped(offloaded) = self;
        *offloaded.work() = Work::Over;
        offloaded.over();
    }
}

impl Wake for OffloadedTask {
    fn wake(self: Arc<OffloadedTask>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<OffloadedTask>) {
        self.called.store(true, Ordering::Release);
        // Taken, and called while the mutex is free: it is somebody else's code. Whoever comes brings
        // it back.
        let caller = self.caller().take();
        if let Some(caller) = caller {
            catch_panics(|| caller.wake());
        }
    }
}

/// A caller that does an errand while it waits. Dropped, it leaves it to the keeper.
pub(crate) struct InlineRunner {
    background: Background,
    offloaded: Arc<OffloadedTask>,
}

impl InlineRunner {
    /// Somebody for whom there is nothing to do so far.
    pub(crate) fn new(background: &Background) -> InlineRunner {
        InlineRunner {
            background: background.clone(),
            offloaded: OffloadedTask::new(),
        }
    }

    /// Where work for it can be left.
    pub(crate) fn offloaded(&self) -> &Arc<OffloadedTask> {
        &self.offloaded
    }

    /// Waits for `answer`, and does what there is to do meanwhile. `None` if there will be none.
    ///
    /// It is polled outside the budget of its task. Where that is used up, tokio wakes a task when its
    /// poll is over, and so never if a caller waits for this inside a poll, with another executor.
    pub(crate) async fn wait_for<T>(&mut self, answer: &mut oneshot::Receiver<T>) -> Option<T> {
        unconstrained(poll_fn(|cx| {
            self.offloaded.poll(cx);
            Pin::new(&mut *answer).poll(cx).map(Result::ok)
        }))
        .await
    }

    /// Nothing will come that has not come by now.
    pub(crate) fn expects_nothing(&self) {
        let mut work = self.offloaded.work();
        if matches!(*work, Work::Awaited) {
            *work = Work::Over;
            self.offloaded.done.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for InlineRunner {
    fn drop(&mut self) {
        // In a forked child another thread may have held the mutexes when the process was forked.
        if !self.offloaded.done.load(Ordering::Relaxed) && self.background.check_process().is_ok() {
            self.offloaded.leave(&self.background);
        }
    }
}

/// What callers of this process do, so that the keeper can look after it.
#[derive(Default)]
struct OffloadedTasks(Mutex<Watched>);

static WATCHED: LazyLock<OffloadedTasks> = LazyLock::new(OffloadedTasks::default);

#[derive(Default)]
struct Watched {
    offloaded_tasks: HashMap<u64, Arc<OffloadedTask>>,
    is_watching: bool,
}

impl OffloadedTasks {
    fn watch(&self, background: &Background, offloaded: &Arc<OffloadedTask>) {
        let mut watched = self.watched();
        watched
            .offloaded_tasks
            .insert(offloaded.number, offloaded.clone());
        if !mem::replace(&mut watched.is_watching, true) {
            drop(watched);
            let keeper_too = background.clone();
            background.spawn(async move { WATCHED.look_after(&keeper_too).await });
        }
    }

    fn forget(&self, offloaded: &OffloadedTask) {
        let forgotten = self.watched().offloaded_tasks.remove(&offloaded.number);
        drop(forgotten);
    }

    /// Takes over what is not done, until there is nothing to look after.
    async fn look_after(&self, background: &Background) {
        let mut idle = 0;
        while idle < IDLE_LOOKS || !self.rest() {
            tokio::time::sleep(LOOK).await;
            let late = self.late();
            idle = if late.is_none() { idle + 1 } else { 0 };
            for offloaded in late.into_iter().flatten() {
                offloaded.leave(background);
            }
        }
    }

    /// What was called before the last look and has not been polled since; `None` if nothing is done
    /// at all.
    fn late(&self) -> Option<Vec<Arc<OffloadedTask>>> {
        let watched = self.watched();
        let is_late = |offloaded: &&Arc<OffloadedTask>| {
            let called = offloaded.called.load(Ordering::Acquire);
            offloaded.was_called.swap(called, Ordering::Relaxed) && called
        };
        let late = watched
            .offloaded_tasks
            .values()
            .filter(is_late)
            .cloned()
            .collect();
        (!watched.offloaded_tasks.is_empty()).then_some(late)
    }

    /// Stops looking, if there is nothing to look after.
    fn rest(&self) -> bool {
        let mut watched = self.watched();
        watched.is_watching = !watched.offloaded_tasks.is_empty();
        !watched.is_watching
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::ThreadId;
    use tokio::sync::Notify;
    use tokio::time::timeout;

    /// A bound that only a failing test sees the end of.
    const LONG: Duration = Duration::from_secs(20);

    fn background() -> Background {
        Background::get().expect("there is one")
    }

    fn here() -> ThreadId {
        std::thread::current().id()
    }

    /// Leaves something to do that says on which threads it was done, before and after it was called.
    fn assign(offloaded: &Arc<OffloadedTask>) -> (Arc<Notify>, oneshot::Receiver<[ThreadId; 2]>) {
        let (reply, answer) = oneshot::channel();
        let call = Arc::new(Notify::new());
        let called = call.clone();
        let task = Box::pin(async move {
            let first = here();
            called.notified().await;
            let _ = reply.send([first, here()]);
        });
        offloaded.assign(&background(), task);
        (call, answer)
    }

    fn watched() -> usize {
        WATCHED.watched().offloaded_tasks.len()
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
    async fn a_caller_that_waits_does_it_itself() {
        let mut runner = InlineRunner::new(&background());
        let (call, mut answer) = assign(runner.offloaded());
        // Called again and again, and always there: it is not late.
        let calling = tokio::spawn(async move {
            for _ in 0..4 {
                tokio::time::sleep(LOOK).await;
            }
            call.notify_one();
        });
        let threads = soon(runner.wait_for(&mut answer)).await;
        assert_eq!(threads, Some([here(), here()]));
        calling.await.unwrap();
    }

    #[tokio::test]
    async fn the_keeper_goes_on_where_a_caller_leaves() {
        let mut runner = InlineRunner::new(&background());
        let (call, mut answer) = assign(runner.offloaded());
        assert!(!poll_once(&mut runner, &mut answer).await);
        drop(runner);
        call.notify_one();
        let [first, last] = soon(answer).await.unwrap();
        assert_eq!(first, here());
        assert_ne!(last, here());
    }

    #[tokio::test]
    async fn what_comes_after_the_caller_has_left_is_the_keepers() {
        let runner = InlineRunner::new(&background());
        let offloaded = runner.offloaded().clone();
        drop(runner);
        let (call, answer) = assign(&offloaded);
        call.notify_one();
        assert!(!soon(answer).await.unwrap().contains(&here()));
    }

    /// Its runtime is blocked, or nobody polls its future.
    #[tokio::test]
    async fn a_caller_that_is_called_and_does_not_come_is_relieved() {
        let mut runner = InlineRunner::new(&background());
        let (call, mut answer) = assign(runner.offloaded());
        assert!(!poll_once(&mut runner, &mut answer).await);
        call.notify_one();
        let [first, last] = soon(&mut answer).await.unwrap();
        assert_eq!(first, here());
        assert_ne!(last, here(), "the keeper has taken it over");
    }

    /// Given, and not even looked at.
    #[tokio::test]
    async fn a_caller_that_never_comes_is_relieved() {
        let runner = InlineRunner::new(&background());
        let (call, answer) = assign(runner.offloaded());
        call.notify_one();
        assert!(!soon(answer).await.unwrap().contains(&here()));
        drop(runner);
    }

    /// It may never be polled again if it is not answered now: another executor polls it inside a poll.
    #[tokio::test]
    async fn a_caller_whose_task_has_used_up_its_budget_is_answered() {
        while tokio::task::coop::has_budget_remaining() {
            tokio::task::coop::consume_budget().await;
        }
        let mut runner = InlineRunner::new(&background());
        let (call, mut answer) = assign(runner.offloaded());
        call.notify_one();
        let mut waiting = Box::pin(runner.wait_for(&mut answer));
        let polled = waiting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_ready());
    }

    #[tokio::test]
    async fn a_task_that_panics_is_gone_and_takes_nobody_with_it() {
        let caller = tokio::spawn(async {
            let mut runner = InlineRunner::new(&background());
            let (_reply, mut answer) = oneshot::channel::<()>();
            let task = Box::pin(async { panic!("on purpose") });
            runner.offloaded().assign(&background(), task);
            runner.wait_for(&mut answer).await
        });
        assert!(soon(caller).await.unwrap_err().is_panic());
        let mut runner = InlineRunner::new(&background());
        let (call, mut answer) = assign(runner.offloaded());
        call.notify_one();
        assert!(soon(runner.wait_for(&mut answer)).await.is_some());
    }

    #[tokio::test]
    async fn nothing_is_looked_after_that_is_done() {
        for _ in 0..100 {
            let mut runner = InlineRunner::new(&background());
            let (call, mut answer) = assign(runner.offloaded());
            call.notify_one();
            soon(runner.wait_for(&mut answer)).await.unwrap();
        }
        // Those of the other tests aside, which end as well.
        soon(async {
            while watched() > 0 {
                tokio::time::sleep(LOOK).await;
            }
        })
        .await;
    }
}
