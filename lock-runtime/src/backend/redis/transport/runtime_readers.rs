//! The runtimes that have sent on a connection, and whether their reader tasks read the answers.

use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::runtime::Id;

/// The background reads when no reader has sent for this long, or when a command has been pending for this long. The
/// time is short compared with the usual command timeout of a second, and long compared with a round trip in a data
/// centre.
pub(super) const TAKEOVER_DELAY: Duration = Duration::from_millis(20);

/// How long a reader task is not relied on after the background had to read its answers.
///
/// A runtime may be blocked permanently, for example if its only thread waits in another executor. Without the
/// suspension each of its commands would wait for the takeover.
const SUSPENSION: Duration = Duration::from_secs(1);

/// The runtimes that have sent on a connection.
#[derive(Default)]
pub(super) struct RuntimeReaders(Vec<RuntimeEntry>);

struct RuntimeEntry {
    runtime: Id,
    /// Whether the runtime has a reader task.
    has_task: bool,
    /// The waker of the task; `None` while the task has been woken and not polled.
    waker: Option<Waker>,
    suspended_until: Option<Instant>,
}

impl RuntimeReaders {
    /// Adds a runtime. Returns `false` if it was added before.
    pub(super) fn add(&mut self, runtime: Id) -> bool {
        let is_new = self.entry(runtime).is_none();
        if is_new {
            self.0.push(RuntimeEntry {
                runtime,
                has_task: true,
                waker: None,
                suspended_until: None,
            });
        }
        is_new
    }

    /// Notes that the runtime cannot run a reader task.
    pub(super) fn note_without_task(&mut self, runtime: Id) {
        if let Some(entry) = self.entry(runtime) {
            entry.has_task = false;
        }
    }

    /// Returns whether any runtime has a reader task.
    pub(super) fn has_task(&self) -> bool {
        self.0.iter().any(|entry| entry.has_task)
    }

    /// Returns whether the runtime's reader task will read the answer to a command that the runtime sends now.
    pub(super) fn is_active(&mut self, runtime: Id, now: Instant) -> bool {
        let Some(entry) = self.entry(runtime) else {
            return false;
        };
        entry.suspended_until.take_if(|until| *until <= now);
        entry.has_task && entry.suspended_until.is_none()
    }

    /// Suspends the reader task of a runtime, since the background has read an answer in its place.
    pub(super) fn suspend(&mut self, runtime: Id, now: Instant) {
        if let Some(entry) = self.entry(runtime) {
            entry.suspended_until = Some(now + SUSPENSION);
        }
    }

    /// Stores the waker of a reader task after its poll.
    pub(super) fn store_waker(&mut self, runtime: Id, waker: &Waker) {
        if let Some(entry) = self.entry(runtime) {
            match &mut entry.waker {
                Some(stored) => stored.clone_from(waker),
                None => entry.waker = Some(waker.clone()),
            }
        }
    }

    /// Returns the waker of a runtime's reader task, to be called with no mutex held; `None` if the task was woken and
    /// not polled since.
    pub(super) fn take_waker(&mut self, runtime: Id) -> Option<Waker> {
        self.entry(runtime)?.waker.take()
    }

    /// Returns the wakers of all reader tasks.
    pub(super) fn take_wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.0.iter_mut().filter_map(|entry| entry.waker.take())
    }

    pub(super) fn remove(&mut self, runtime: Id) {
        self.0.retain(|entry| entry.runtime != runtime);
    }

    fn entry(&mut self, runtime: Id) -> Option<&mut RuntimeEntry> {
        self.0.iter_mut().find(|entry| entry.runtime == runtime)
    }
}
