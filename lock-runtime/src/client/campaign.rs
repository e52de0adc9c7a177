//! Leads for as long as the program runs: calls a locked function again whenever its lock is busy, lost or unavailable.
//!
//! [`campaigning`] is the future. It sees the locks of its call through an [`observer`], [`observed`] judges whose
//! failure ended the call, and [`pacing`] decides whether and when to call again.

mod campaigning;
mod lock_error_of;
mod observed;
pub(in crate::client) mod observer;
mod pacing;
mod standing;

use std::fmt;
use std::future::{Future, IntoFuture, Pending, pending};

pub use self::campaigning::Campaigning;
use self::lock_error_of::{AlongSources, LockErrorOf, Told};
pub use self::standing::Standing;
use crate::error::LockError;

/// Calls an async function that runs under a lock again and again, so that one of many instances leads, and another takes
/// over when it is gone.
///
/// The *led* lock is the lock that the function takes, with the attribute, [`Acquire::run`](crate::Acquire::run) or a
/// guard. The campaign stands again:
///
/// - after [`Busy`](crate::LockErrorKind::Busy). The function's `wait` was its stand: it queued for so long, and was
///   served in its turn. After a wait of less than a second, the next stand begins about a second later;
/// - after [`Lost`](crate::LockErrorKind::Lost), at once;
/// - after [`Unavailable`](crate::LockErrorKind::Unavailable), after pauses that grow from 100 ms to 5 s.
///
/// `Ok` ends the campaign with `Some(value)`, and any other error ends it with that error: a campaign cannot mend a missing
/// right. A lock that the body takes in addition is the body's: if it is busy or lost, and the body fails with that, the
/// campaign ends too. A call that skips because its lock is busy (`on_busy = "skip"`) has not led, and stands again.
///
/// The campaign looks for the lock's failure in the error and along its [sources](std::error::Error::source). If none is
/// there, since the error has only its text for example, what the lock did last decides: the campaign stands again if the
/// lock was busy, lost or unavailable. [`lock_error`](Campaign::lock_error) finds the failure in other ways.
///
/// Give the function a long `wait`, such as `"1h"`: a candidate that queues has the lock by a message as soon as the leader
/// releases it. With `wait = "0s"` it asks once a second, and comes after all who queue. With `permits` there are as many
/// leaders as permits. Synchronous functions cannot be stopped, and have no campaign.
///
/// A campaign sees the locks of its own task: a function that spawns the work does not lead, and its `Busy` ends the
/// campaign. Inside a body that holds another lock, a campaign keeps that lock for as long as it stands.
///
/// # Errors
///
/// When awaited, what the function failed with: its body's own error, or a failure of a lock that does not pass, such as
/// `Rejected`, or `Shutdown` once the client is [shut down](crate::LockClient::shutdown).
///
/// # Panics
///
/// When awaited, if the function, `until` or `on_change` panics. The lock is released.
///
/// # Cancel safety
///
/// Dropping the campaign drops the call, which leaves the queue, or drops its body and releases the lock in the
/// background. [`until`](Campaign::until) also waits for the release of a leader's lock.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, LockError, Standing, campaign, distributed_lock};
///
/// #[distributed_lock(key = "leader:<shard>", ttl = "3s", wait = "1h", token = term, client = locks)]
/// async fn lead(locks: &LockClient, shard: u32) -> Result<(), LockError> {
///     loop {
///         tick(shard, term.get()).await; // sends the term with each write
///     }
/// }
///
/// # async fn tick(_shard: u32, _term: u64) { tokio::task::yield_now().await }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
/// let locks = LockClient::memory();
/// # let stop = tokio::time::sleep(std::time::Duration::from_millis(5));
/// # let mut seen = Vec::new();
/// // `stop` completes at SIGTERM.
/// let ended = campaign(|| lead(&locks, 7))
///     .on_change(|standing| {
/// #       seen.push(format!("{standing:?}"));
///         println!("{standing:?}");
///     })
///     .until(stop)
///     .await?;
/// assert!(ended.is_none());
/// # assert_eq!(seen, ["Candidate", r#"Leader { key: "leader:7" }"#]);
/// assert!(!locks.inspect("leader:7").await?.is_held());
/// # Ok(()) }
/// ```
pub fn campaign<F, Fut, T, E>(lead: F) -> Campaign<F, Pending<()>, fn(Standing<'_>), AlongSources>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    Campaign {
        lead,
        until: pending(),
        on_change: |_| {},
        lock_error: AlongSources,
    }
}

/// A campaign for a lock, which begins when it is awaited; created by [`campaign`].
#[must_use = "nobody stands for the lock until this is awaited"]
#[derive(Clone)]
pub struct Campaign<F, U, C, L> {
    lead: F,
    until: U,
    on_change: C,
    lock_error: L,
}

impl<F, U, C, L> Campaign<F, U, C, L> {
    /// Stops the campaign when `stop` completes, whatever its output, and makes the result `Ok(None)`.
    ///
    /// The body is dropped at its current await and the lock is released: the next leader has it by a message. A body that
    /// has returned already, so that its lock is being released, keeps its result. A campaign that waits for the lock
    /// leaves the queue. If `stop` is complete from the beginning, the function is never called.
    ///
    /// The campaign waits for the answer to the release for as long as the lease lasts, but for at least 20 ms and at most
    /// a second, and not at all with [`await_release(false)`](crate::LockClientBuilder::await_release). It does not wait
    /// until the queue is left, or until a lock is released that was granted in the last moment:
    /// [`shutdown`](crate::LockClient::shutdown) does.
    ///
    /// # Examples
    ///
    /// ```
    /// # async fn lead() -> Result<(), lock_runtime::LockError> { Ok(()) }
    /// # async fn run(stopping: tokio_util_like::Stopping) -> Result<(), lock_runtime::LockError> {
    /// lock_runtime::campaign(lead).until(stopping.requested()).await?;
    /// # Ok(()) }
    /// # mod tokio_util_like { pub struct Stopping; impl Stopping { pub async fn requested(&self) {} } }
    /// ```
    pub fn until<S: Future>(self, stop: S) -> Campaign<F, S, C, L> {
        let Campaign {
            lead,
            on_change,
            lock_error,
            ..
        } = self;
        Campaign {
            lead,
            until: stop,
            on_change,
            lock_error,
        }
    }

    /// Calls `change` when the campaign begins, leads, and stands again.
    ///
    /// It is called by the campaign's task, between two polls of the function: that the campaign leads is reported after
    /// the first poll of its body. The end of the campaign is its result.
    pub fn on_change<N: FnMut(Standing<'_>)>(self, change: N) -> Campaign<F, U, N, L> {
        let Campaign {
            lead,
            until,
            lock_error,
            ..
        } = self;
        Campaign {
            lead,
            until,
            on_change: change,
            lock_error,
        }
    }

    /// Finds the lock's failure in the function's error, in place of a search along its
    /// [sources](std::error::Error::source). Needed for errors that do not implement `std::error::Error`.
    ///
    /// If `find` returns `None`, the error is not the lock's, and ends the campaign.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError, campaign};
    /// # async fn lead(locks: &LockClient) -> anyhow::Result<u8> {
    /// #     Ok(locks.lock("leader").run(async |_| 7).await?)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> anyhow::Result<()> {
    /// # let locks = LockClient::memory();
    /// let led = campaign(|| lead(&locks))
    ///     .lock_error(|error: &anyhow::Error| error.downcast_ref())
    ///     .await?;
    /// # assert_eq!(led, Some(7));
    /// # Ok(()) }
    /// ```
    pub fn lock_error<E, N>(self, find: N) -> Campaign<F, U, C, Told<N>>
    where
        N: for<'e> Fn(&'e E) -> Option<&'e LockError>,
    {
        let Campaign {
            lead,
            until,
            on_change,
            ..
        } = self;
        Campaign {
            lead,
            until,
            on_change,
            lock_error: Told(find),
        }
    }
}

impl<F, Fut, T, E, U, C, L> IntoFuture for Campaign<F, U, C, L>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
    U: Future,
    C: FnMut(Standing<'_>),
    L: LockErrorOf<E>,
{
    type Output = Result<Option<T>, E>;
    type IntoFuture = Campaigning<F, Fut, U, C, L>;

    fn into_future(self) -> Self::IntoFuture {
        Campaigning::new(self.lead, self.until, self.on_change, self.lock_error)
    }
}

impl<F, U, C, L> fmt::Debug for Campaign<F, U, C, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Campaign").finish_non_exhaustive()
    }
}
