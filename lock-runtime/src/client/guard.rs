//! A held lock.

mod tokens;

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::backend::caller::{Caller, on_this_thread};
use crate::backend::held_lease::HeldLease;
use crate::background::moment::Moment;
use crate::call_tree::body::{self, BodyDriver};
use crate::call_tree::{Frame, OnLost};
use crate::client::campaign::observer;
use crate::client::core::Core;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockKey, OneOrMore};
use crate::lease::run_record::RunRecord;
use crate::lease::{LeaseRef, Mode, Share};

/// Holds a lock, together with all other guards, bodies and carried futures that share the hold.
///
/// The lock is released when the last of them is gone. Dropping the last guard releases the lock in the background, at
/// once and without blocking, even during a panic or a runtime's shutdown. [`release`](LockGuard::release) waits for
/// the release and returns its result. If the process exits immediately after a drop, the lock may stay taken until its
/// ttl ends.
///
/// Unlike a mutex, a lease can end while it is in use. [`is_valid`](LockGuard::is_valid), [`lost`](LockGuard::lost) and
/// the result of `release` report that. A [fencing token](LockGuard::fencing_token) protects the resource if the report
/// comes too late. [`run`](LockGuard::run) stops a body by itself.
#[must_use = "the lock is released as soon as the guard is dropped"]
#[clippy::has_significant_drop]
pub struct LockGuard {
    core: Arc<Core>,
    /// Dropped before the frame: once the lock is free, the guard is no longer counted.
    reference: LeaseRef,
    /// The frame of the lock; with several locks, the frame of the locks that the call acquired itself.
    frame: Arc<Frame>,
    /// Nearly every guard has one lock.
    several: Option<Box<Several>>,
}

/// What a guard of several locks has in addition to its own frame.
struct Several {
    keys: OneOrMore<LockKey>,
    /// The frames of locks that the call tree already held.
    beside: Vec<(LeaseRef, Arc<Frame>)>,
}

impl LockGuard {
    pub(super) fn new(core: Arc<Core>, frame: Arc<Frame>) -> LockGuard {
        let reference = frame.reference();
        LockGuard {
            core,
            reference,
            frame,
            several: None,
        }
    }

    /// Creates a guard of several locks, with these keys, which the frames hold. The last frame is the guard's own.
    pub(super) fn of_several(
        core: Arc<Core>,
        keys: OneOrMore<LockKey>,
        mut frames: Vec<Arc<Frame>>,
    ) -> LockGuard {
        let frame = frames.pop().expect("several locks have a frame");
        let beside = frames.into_iter();
        let beside = beside.map(|frame| (frame.reference(), frame)).collect();
        let mut guard = LockGuard::new(core, frame);
        guard.several = Some(Box::new(Several { keys, beside }));
        guard
    }

    /// Returns the frames of locks that the call tree already held.
    fn beside(&self) -> impl Iterator<Item = &Arc<Frame>> + Clone {
        let several = self.several.iter();
        several.flat_map(|several| several.beside.iter().map(|(_, frame)| frame))
    }

    /// Returns the frames of all locks of this guard.
    fn frames(&self) -> impl Iterator<Item = &Arc<Frame>> {
        std::iter::once(&self.frame).chain(self.beside())
    }

    pub(crate) fn frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// Returns the key, without the client's prefix. With several keys, this is the first in the order of acquisition.
    pub fn key(&self) -> &str {
        self.key_set().first().as_str()
    }

    /// Returns all keys of the guard, in the order of acquisition.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.key_set().iter().map(LockKey::as_str)
    }

    fn key_set(&self) -> &OneOrMore<LockKey> {
        match &self.several {
            None => &self.frame.lease().keys,
            Some(several) => &several.keys,
        }
    }

    /// Returns how long the lock may still be relied on without another renewal; zero once it is lost.
    ///
    /// The time counts from before the request that the server confirmed, less a margin for the difference of the two
    /// clocks, so it is shorter than the ttl that Redis shows.
    pub fn remaining(&self) -> Duration {
        let remaining = self.frames().map(|frame| frame.lease().remaining());
        remaining.min().unwrap_or_default()
    }

    /// Returns whether the lock may still be relied on: nothing disproved it and its deadline has not passed. This only
    /// reads a clock; [`renew`](LockGuard::renew) asks the server.
    pub fn is_valid(&self) -> bool {
        self.frames().all(|frame| frame.lease().loss().is_none())
    }

    /// Returns `Lost` if the lock, or one of several, is lost.
    pub(super) fn lost_error(&self) -> Option<LockError> {
        self.frames().find_map(lost_error)
    }

    /// Waits until the lock is lost. Never completes if it is not.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped and created again at any time.
    pub async fn lost(&self) {
        if self.several.is_none() {
            self.frame.lease().lost().await;
            return;
        }
        let mut lost: Vec<_> = self
            .frames()
            .map(|frame| Box::pin(frame.lease().lost()))
            .collect();
        poll_fn(|cx| {
            let mut any = lost.iter_mut();
            if any.any(|lost| lost.as_mut().poll(cx).is_ready()) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Returns how many guards, bodies and carried futures share this hold.
    pub fn hold_count(&self) -> usize {
        self.frame.lease().references()
    }

    /// Asks the server whether the lock is still ours, and extends the lease to a full ttl, or to the rest of
    /// `max_hold`.
    ///
    /// # Errors
    ///
    /// `Lost` if the lock is no longer ours. `Unavailable` if the server did not answer, and `Rejected` if it refused:
    /// the lease then runs on unchanged. `Shutdown` in a forked child.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the lease either extended or unchanged.
    pub async fn renew(&self) -> Result<(), LockError> {
        for frame in self.frames() {
            frame.lease().renew().await?;
        }
        Ok(())
    }

    /// Runs `future` in a call tree that holds this lock: locked functions called in it enter the lock instead of
    /// waiting for it. When the lock is lost, `future` is dropped at its current await. The guard still holds the lock
    /// afterwards.
    ///
    /// # Errors
    ///
    /// `Lost`.
    ///
    /// # Cancel safety
    ///
    /// Dropping the returned future drops `future`.
    pub async fn run<F: Future>(&self, future: F) -> Result<F::Output, LockError> {
        let future = pin!(Some(future));
        let output = self.driver(OnLost::Cancel).drive(future).await?;
        match self.lost_error() {
            None => Ok(output),
            Some(lost) => Err(lost),
        }
    }

    /// Atomically turns a write lock into a read lock.
    ///
    /// No other writer gets in between, and readers queued ahead of the first writer are admitted. The returned guard
    /// has its own fencing token, above the writer's token. A reader's guard is returned unchanged, even if it is
    /// nested in a writer. A minimum hold ([`min_hold`](crate::Acquire::min_hold)) ends with the write lock.
    ///
    /// There is no upgrade: two readers that both waited to write would deadlock.
    ///
    /// # Errors
    ///
    /// After an error the guard is gone and the lock released. `Lost` if the lock was lost, even if it is free by now,
    /// or if no answer came before its deadline. `Reentered` if other guards, bodies or carried futures share the hold:
    /// they rely on exclusive access, and keep the lock. `InvalidOptions` if the guard holds permits or several locks,
    /// or its lock is in [Redisson's record](crate::LockRecord::Redisson). `Rejected` if the server refuses.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future releases the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let writing = client.lock("report").write().acquire().await?;
    /// let reading = writing.downgrade().await?;
    /// let another = client.lock("report").read().acquire().await?;
    /// assert_eq!(reading.fencing_token().await?, another.fencing_token().await?);
    /// # Ok(()) }
    /// ```
    pub fn downgrade(self) -> impl Future<Output = Result<LockGuard, LockError>> + Send {
        self.downgrade_for(Caller::Task)
    }

    /// Like [`downgrade`](LockGuard::downgrade), but blocks the thread.
    ///
    /// # Errors
    ///
    /// The same as [`downgrade`](LockGuard::downgrade).
    pub fn downgrade_blocking(self) -> Result<LockGuard, LockError> {
        on_this_thread(self.downgrade_for(Caller::Thread))
    }

    async fn downgrade_for(self, caller: Caller) -> Result<LockGuard, LockError> {
        let core = self.core.clone();
        match self.downgradable()? {
            Downgradable::Reader(guard) => Ok(guard),
            Downgradable::Writer(lease) => {
                Ok(LockGuard::reading(core, lease.downgrade(caller).await?))
            }
        }
    }

    fn reading(core: Arc<Core>, lease: HeldLease) -> LockGuard {
        LockGuard::new(core, Frame::outermost(lease, Mode::Share(Share::READ)))
    }

    fn downgradable(self) -> Result<Downgradable, LockError> {
        let key = self.key_set().first().clone();
        if self.several.is_some() || !self.frame.lease().keys.is_one() {
            let reason = "a guard of several locks cannot be downgraded";
            return Err(LockError::invalid_options(reason).with_key(&key));
        }
        match self.frame.mode().share() {
            Some(Share::READ) => return Ok(Downgradable::Reader(self)),
            Some(_) => {
                let reason = "a guard of permits cannot be downgraded";
                return Err(LockError::invalid_options(reason).with_key(&key));
            }
            None => {}
        }
        let possible = self.core.require("readers");
        possible.map_err(|error| error.with_key(&key))?;
        drop(self.reference);
        match self.frame.into_last() {
            Some(lease) => Ok(Downgradable::Writer(lease)),
            None => Err(LockError::new(LockErrorKind::Reentered)
                .with_key(&key)
                .with_detail("other guards, bodies or futures share the hold")),
        }
    }

    /// Releases the lock and reports whether it was held until now.
    ///
    /// If other guards, bodies or carried futures share the hold, it lasts until the last of them is gone. `Ok` then
    /// only means that it is not lost yet.
    ///
    /// # Errors
    ///
    /// `Lost` if the deadline has passed or the server answers that the lock was no longer ours. A release that gets no
    /// answer in time is not an error: the lock was held until this call, and the release is retried in the background.
    ///
    /// # Cancel safety
    ///
    /// Once the future has been polled, the lock is released even if the future is dropped.
    pub fn release(self) -> impl Future<Output = Result<(), LockError>> + Send {
        self.release_for(Caller::Task)
    }

    /// Like [`release`](LockGuard::release), but blocks the thread, for at most a second.
    ///
    /// # Errors
    ///
    /// The same as [`release`](LockGuard::release).
    pub fn release_blocking(self) -> Result<(), LockError> {
        on_this_thread(self.release_for(Caller::Thread))
    }

    /// Marks the run of this guard as failed, for callers that [record](crate::Acquire::runs) their runs. Does nothing
    /// for others, nor for a nested call, whose failure its caller may handle.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// # let client = LockClient::memory();
    /// # let import = async || std::fs::read("no-such-file");
    /// let outcome = client.lock("import").runs(20).run(async |guard| {
    ///     import().await.inspect_err(|_| guard.mark_failed())
    /// });
    /// assert!(outcome.await?.is_err());
    /// assert_eq!(client.runs("import").await?[0].outcome.as_str(), "failed");
    /// # Ok(()) }
    /// ```
    pub fn mark_failed(&self) {
        if let Some(run) = self.own_run() {
            run.body_failed();
        }
    }

    /// Notes for the run that a lock was lost before the work was over.
    pub(super) fn mark_lost(&self) {
        if let Some(run) = self.own_run() {
            run.lock_lost();
        }
    }

    /// Notes for the run that the work under this guard is done.
    pub(super) fn mark_done(&self) {
        if let Some(run) = self.own_run() {
            run.body_done();
        }
    }

    /// Returns the run whose lock this guard acquired.
    fn own_run(&self) -> Option<Arc<RunRecord>> {
        if !self.frame.is_outermost() {
            return None;
        }
        self.frame.lease().run()
    }

    pub(super) async fn release_for(self, caller: Caller) -> Result<(), LockError> {
        match self.ending() {
            Ending::Last(held, ended, outcome) => {
                let releasing = observer::releasing(&held.keys);
                let released = held.release(caller, ended).await;
                drop(releasing);
                released.and(outcome)
            }
            Ending::Shared(outcome) => outcome,
        }
    }

    /// Returns a driver for a body that runs under this lock.
    pub(crate) fn driver(&self, on_lost: OnLost) -> BodyDriver<'_> {
        BodyDriver::new(self.core.number, &self.frame, self.beside(), on_lost)
    }

    /// Runs a synchronous body in a call tree that holds this lock.
    pub(crate) fn run_body_blocking<R>(&self, body: impl FnOnce() -> R) -> R {
        body::run_blocking(self.core.number, &self.frame, self.beside(), body)
    }

    fn ending(self) -> Ending {
        self.mark_done();
        let now = self.frame.lease().now();
        let own = lost_error_at(&self.frame, now);
        let beside = self.beside().find_map(lost_error);
        if beside.is_some() {
            self.mark_lost();
        }
        drop(self.reference);
        match (self.frame.into_last(), own) {
            (Some(held), _) => Ending::Last(held, now, beside.map_or(Ok(()), Err)),
            (None, own) => Ending::Shared(own.or(beside).map_or(Ok(()), Err)),
        }
    }
}

/// Returns `Lost` if the lease of a frame is lost.
fn lost_error(frame: &Arc<Frame>) -> Option<LockError> {
    lost_error_at(frame, frame.lease().now())
}

fn lost_error_at(frame: &Arc<Frame>, now: Moment) -> Option<LockError> {
    let lease = frame.lease();
    lease.loss_at(now).map(|loss| lease.lost_error(loss))
}

/// A guard that may be downgraded.
enum Downgradable {
    /// It is a reader's guard already.
    Reader(LockGuard),
    Writer(HeldLease),
}

/// The work that remains when a guard ends.
enum Ending {
    /// The lease to release, the time at which its holder was done, and whether the locks that the call tree held
    /// before are still held.
    Last(HeldLease, Moment, Result<(), LockError>),
    Shared(Result<(), LockError>),
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockGuard")
            .field("key", &self.key())
            .field("fencing_token", &self.token())
            .field("remaining", &self.remaining())
            .field("is_valid", &self.is_valid())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::time::Duration;

    use super::*;
    use crate::client::LockClient;

    /// A lease can end between its delivery and the first poll of the body.
    #[tokio::test(start_paused = true)]
    async fn body_whose_lock_is_lost_already_does_not_start() {
        let client = LockClient::memory();
        let lock = client.lock("order:42").ttl(Duration::from_millis(60));
        let guard = lock.renew(false).acquire().await.unwrap();
        guard.lost().await;
        for on_lost in [OnLost::Finish, OnLost::Cancel] {
            let has_run = Cell::new(false);
            let body = pin!(Some(async { has_run.set(true) }));
            let error = guard.driver(on_lost).drive(body).await.unwrap_err();
            assert!(error.is_lost(), "{error}");
            assert!(!has_run.get(), "{on_lost:?}");
        }
    }
}
