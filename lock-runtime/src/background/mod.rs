//! One thread per process, for work that must outlive the caller's runtime.
//!
//! The thread renews leases, releases the locks of dropped guards, awaits answers whose caller is gone, and reads from
//! connections that have no other reader. So a lease is renewed while its body blocks the runtime, and a guard dropped
//! while its runtime shuts down is still released. One client can serve a new runtime in every test.
//!
//! The thread only runs short, non-blocking steps, so callers may rely on its timers.

pub(crate) mod clock;
pub(crate) mod fork;
pub(crate) mod in_flight;
pub(crate) mod moment;
pub(crate) mod offload;
pub(crate) mod panics;
pub(crate) mod random;
pub(crate) mod sync;
pub(crate) mod timers;

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use once_cell::sync::OnceCell;
use tokio::runtime::{Handle, Id};
use tokio::task::JoinHandle;

use crate::background::fork::Origin;
use crate::background::timers::Timers;
use crate::error::{LockError, LockErrorKind};

/// The background thread of this process.
#[derive(Clone, Debug)]
pub(crate) struct Background(&'static Inner);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    timers: Arc<Timers>,
    origin: Origin,
}

/// A forked child inherits its parent's.
static BACKGROUND: OnceCell<Inner> = OnceCell::new();

impl Background {
    /// Fails in a forked child whose parent had started the background, so that calls that need no background fail
    /// there, too.
    pub(crate) fn refuse_forked() -> Result<(), LockError> {
        BACKGROUND
            .get()
            .map_or(Ok(()), |inner| Background(inner).check_process())
    }

    /// Returns the background, started by the first call that can: a process that has no file descriptor or thread left
    /// now may have one later.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the thread cannot be started now, `Shutdown` in a forked child: a thread
    /// does not survive a fork, and a connection must not be shared by two processes.
    pub(crate) fn get() -> Result<Background, LockError> {
        let inner = BACKGROUND.get_or_try_init(start).map_err(|error| {
            LockError::new(LockErrorKind::Unavailable).with_detail(format!(
                "the background thread could not be started: {error}"
            ))
        })?;
        let background = Background(inner);
        background.check_process()?;
        Ok(background)
    }

    /// Fails in a forked child, since the thread does not run there.
    pub(crate) fn check_process(&self) -> Result<(), LockError> {
        if self.0.origin.is_forked() {
            return Err(LockError::new(LockErrorKind::Shutdown).with_detail(
                "this process was forked after its parent had made a client; fork first, then connect",
            ));
        }
        Ok(())
    }

    /// Returns the thread's process.
    pub(crate) fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Runs `task` on the thread. In a forked child the task is dropped, since no thread would run it.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Option<JoinHandle<T>> {
        self.spawn_boxed(Box::pin(task))
    }

    /// Like [`spawn`](Background::spawn), for a task that is already boxed.
    ///
    /// All tasks have this one type, because tokio compiles its part again for each type: 0.3 MB in every program.
    pub(crate) fn spawn_boxed<T: Send + 'static>(
        &self,
        task: Pin<Box<dyn Future<Output = T> + Send>>,
    ) -> Option<JoinHandle<T>> {
        self.check_process().ok()?;
        Some(self.0.handle.spawn(task))
    }

    /// The id of the thread's runtime.
    pub(crate) fn id(&self) -> Id {
        self.0.handle.id()
    }

    /// Returns timers that also work where the caller's runtime has none. In a forked child they never fire.
    pub(crate) fn timers(&self) -> &'static Timers {
        &self.0.timers
    }

    /// Sleeps, on any runtime or none. In a forked child it never completes: no timer fires there.
    pub(crate) async fn sleep(&self, span: Duration) {
        match self.check_process() {
            Ok(()) => self.0.timers.sleep_until(Instant::now() + span).await,
            Err(_) => pending().await,
        }
    }
}

fn start() -> std::io::Result<Inner> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let handle = runtime.handle().clone();
    let timers = Arc::new(Timers::new());
    let firing = timers.clone();
    std::thread::Builder::new()
        .name("lock-background".to_owned())
        .spawn(move || runtime.block_on(firing.run()))?;
    Ok(Inner {
        handle,
        timers,
        origin: Origin::here(),
    })
}

/// The current number of background tasks, for tests that look for leftover tasks.
pub fn background_tasks() -> usize {
    Background::get().map_or(0, |background| {
        background.0.handle.metrics().num_alive_tasks()
    })
}
