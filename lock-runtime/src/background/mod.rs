//! One thread a process that owns what must outlive the caller's runtime.
//!
//! Renewals, the release of dropped guards and answers that arrive after their caller is gone live
//! here, and it reads from connections while nobody else does: a body that blocks its own runtime is still
//! renewed, a guard dropped while a runtime shuts down is still released, and one client serves a new
//! runtime in every test.
//! The thread only ever runs short, non-blocking steps, so callers may rely on its timers.

pub(crate) mod clock;
pub(crate) mod fork;
pub(crate) mod in_flight;
pub(crate) mod moment;
pub(crate) mod offload;
pub(crate) mod panics;
pub(crate) mod random;
pub(crate) mod timers;

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::{Duration, Instant};

use once_cell::sync::OnceCell;
use tokio::runtime::{Handle, Id};
use tokio::task::JoinHandle;

use crate::background::timers::Timers;
use crate::error::{LockError, LockErrorKind};

/// The keeper of this process.
#[derive(Clone, Debug)]
pub(crate) struct Background(&'static Inner);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    timers: Arc<Timers>,
    process: u32,
}

/// The one of this process, or, in a forked child, of its parent.
static KEEPER: OnceCell<Inner> = OnceCell::new();

impl Background {
    /// Whether this is the process that the keeper was started in, if it was: what needs no keeper fails in
    /// a forked child as all else does.
    pub(crate) fn refuse_forked() -> Result<(), LockError> {
        KEEPER
            .get()
            .map_or(Ok(()), |inner| Background(inner).check_process())
    }

    /// The keeper, started at the first call that can: a process that has no file descriptor or thread
    /// left now may have one later.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the thread cannot be started now, `Shutdown` in a forked child: a thread
    /// does not survive a fork, and a connection must not be shared by two processes.
    pub(crate) fn get() -> Result<Background, LockError> {
        let inner = KEEPER.get_or_try_init(start).map_err(|error| {
            LockError::new(LockErrorKind::Unavailable).with_detail(format!(
                "the background thread could not be started: {error}"
            ))
        })?;
        let background = Background(inner);
        background.check_process()?;
        Ok(background)
    }

    /// Whether this is still the process that the keeper runs in.
    pub(crate) fn check_process(&self) -> Result<(), LockError> {
        if std::process::id() == self.0.process {
            return Ok(());
        }
        Err(LockError::new(LockErrorKind::Shutdown).with_detail(
            "this process was forked after its parent had made a client; fork first, then connect",
        ))
    }

    /// The process that the keeper runs in.
    pub(crate) fn process(&self) -> u32 {
        self.0.process
    }

    /// Runs a task on the keeper. In a forked child it is dropped: nobody would run it.
    pub(crate) fn spawn<F>(&self, task: F) -> Option<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.check_process().ok()?;
        Some(self.0.handle.spawn(task))
    }

    /// Which runtime it is.
    pub(crate) fn id(&self) -> Id {
        self.0.handle.id()
    }

    /// Timers for callers that may have none. Nothing rings in a forked child.
    pub(crate) fn timers(&self) -> &'static Timers {
        &self.0.timers
    }

    /// Sleeps, wherever this is called. For ever in a forked child, where nobody keeps time.
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
    let ringing = timers.clone();
    std::thread::Builder::new()
        .name("lock-keeper".to_owned())
        .spawn(move || runtime.block_on(ringing.run()))?;
    Ok(Inner {
        handle,
        timers,
        process: std::process::id(),
    })
}

/// How many tasks the keeper has at this moment: for tests that look for what is left behind.
#[doc(hidden)]
pub fn background_tasks() -> usize {
    Background::get().map_or(0, |background| {
        background.0.handle.metrics().num_alive_tasks()
    })
}

/// Waits for `future` on this thread, inside or outside a runtime.
///
/// tokio's own `block_on` panics inside a runtime. Without `unconstrained`, a task that has used
/// up its cooperative budget would spin here for ever: nothing renews the budget while it blocks.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    pollster::block_on(tokio::task::coop::unconstrained(future))
}
