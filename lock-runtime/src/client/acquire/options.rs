//! The options of a call for a lock, as one struct, and the methods of [`Acquire`] that fill it.
//!
//! The attribute's expansion fills the same struct, by the names of its fields. [`terms`](super::terms) interprets the
//! options.

use std::time::Duration;

use super::Acquire;

/// The options of one call. `None` selects the default, often a setting of the client.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// See [`Acquire::ttl`].
    pub ttl: Option<Duration>,
    /// See [`Acquire::wait`].
    pub wait: Option<Duration>,
    /// See [`Acquire::read`] and [`Acquire::write`].
    pub mode: Option<Access>,
    /// See [`Acquire::permits`].
    pub permits: Option<u32>,
    /// See [`Acquire::take`].
    pub take: Option<u32>,
    /// See [`Acquire::renew`].
    pub renew: Option<bool>,
    /// See [`Acquire::max_hold`].
    pub max_hold: Option<Duration>,
    /// See [`Acquire::min_hold`].
    pub min_hold: Option<Duration>,
    /// See [`Acquire::retain`].
    pub retain: Option<Duration>,
    /// See [`Acquire::runs`].
    pub runs: Option<u32>,
    /// See [`Acquire::reentrant`].
    pub reentrant: Option<bool>,
    /// See [`Acquire::fenced`].
    pub fenced: bool,
    /// What a caller does if the lock is still busy at the end of its wait.
    pub on_busy: OnBusy,
}

/// The kinds of access of [`Acquire::read`] and [`Acquire::write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Shares the lock with other readers.
    Read,
    /// Holds the lock alone, while others read.
    Write,
}

/// What a caller does if the lock is still busy at the end of its wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBusy {
    /// It fails.
    #[default]
    Error,
    /// It goes on without the lock.
    Skip,
}

impl Acquire {
    /// Sets how long the lease lasts without a renewal, 20 ms to 24 h. Default: the client's ttl.
    ///
    /// The ttl bounds how long a crashed holder blocks other callers. It does *not* bound how long the lock may be
    /// held, since an explicit ttl leaves renewal on; use [`max_hold`](Acquire::max_hold) or [`renew`](Acquire::renew)
    /// for that.
    pub fn ttl(mut self, ttl: Duration) -> Acquire {
        self.options.ttl = Some(ttl);
        self
    }

    /// Sets how long to wait for the lock, everything included. Default: the client's wait. Zero makes one attempt.
    pub fn wait(mut self, wait: Duration) -> Acquire {
        self.options.wait = Some(wait);
        self
    }

    /// Shares the lock with other readers: any number of them hold it at once, and no writer with them.
    ///
    /// Waiting readers and writers are served in order of arrival, so neither starves the other. All readers that hold
    /// the lock at once have the same [fencing token](crate::FencingToken).
    ///
    /// A reader's lease is never retained ([`retain`](Acquire::retain)). [Redisson's
    /// record](crate::LockRecord::Redisson) has no readers, writers or permits: there they are `InvalidOptions`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let one = client.lock("report").read().acquire().await?;
    /// let another = client.lock("report").read().acquire().await?;
    /// assert!(client.lock("report").write().try_acquire().await?.is_none());
    /// # drop((one, another)); Ok(()) }
    /// ```
    pub fn read(mut self) -> Acquire {
        self.options.mode = Some(Access::Read);
        self
    }

    /// Holds the lock alone, as a call without a mode does.
    ///
    /// Use it if others [`read`](Acquire::read): the release then admits all waiting readers, and
    /// [`Busy`](crate::LockErrorKind::Busy) reports how many hold the lock. Like [`read`](Acquire::read), it does not
    /// work with Redisson's record.
    pub fn write(mut self) -> Acquire {
        self.options.mode = Some(Access::Write);
        self
    }

    /// Shares the lock with others, up to a total of `permits`, 1 or more. Each call takes one permit unless
    /// [`take`](Acquire::take) sets another number.
    ///
    /// The limit is the caller's own and is not stored: with three permits taken, a caller with a limit of 3 waits,
    /// while a caller with a limit of 5 acquires the lock. If a holder crashes, its permits are free when its ttl ends.
    /// Like [`read`](Acquire::read), it does not work with Redisson's record.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let small = client.lock("supplier").permits(5).acquire().await?;
    /// let large = client.lock("supplier").permits(5).take(4).acquire().await?;
    /// assert!(client.lock("supplier").permits(5).try_acquire().await?.is_none());
    /// # drop((small, large)); Ok(()) }
    /// ```
    pub fn permits(mut self, permits: u32) -> Acquire {
        self.options.permits = Some(permits);
        self
    }

    /// Sets how many of the [`permits`](Acquire::permits) the call takes. Default: 1.
    pub fn take(mut self, take: u32) -> Acquire {
        self.options.take = Some(take);
        self
    }

    /// Sets whether the lease is renewed in the background, each third of its ttl. Default: true.
    pub fn renew(mut self, renew: bool) -> Acquire {
        self.options.renew = Some(renew);
        self
    }

    /// Sets the longest time for which the lock may be held, renewals included. After that the lock is lost.
    pub fn max_hold(mut self, max_hold: Duration) -> Acquire {
        self.options.max_hold = Some(max_hold);
        self
    }

    /// Sets the shortest time for which the lock stays taken, up to 24 h: if its holder finishes earlier, or fails,
    /// other callers find the lock busy until then. Default: zero.
    ///
    /// A short job that several machines start at the same tick then runs once, even if their clocks differ. The time
    /// counts from the acquisition. A lost lock is free at once, and a crashed holder's lock is free when its ttl ends.
    /// The minimum cannot be combined with shares ([`read`](Acquire::read), [`permits`](Acquire::permits)), and must
    /// not exceed [`max_hold`](Acquire::max_hold). In [Redisson's record](crate::LockRecord::Redisson) it is
    /// `InvalidOptions`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let job = client.lock("report:hourly").min_hold(Duration::from_secs(30));
    /// job.run(async |_guard| println!("once a tick")).await?;
    /// assert!(client.lock("report:hourly").try_acquire().await?.is_none());
    /// # Ok(()) }
    /// ```
    pub fn min_hold(mut self, min_hold: Duration) -> Acquire {
        self.options.min_hold = Some(min_hold);
        self
    }

    /// Sets how long the lease stays with this client after the body, if no other client waits for the lock: 1 ms to a
    /// third of the ttl, or zero to release it at once. Default: the client's setting.
    ///
    /// The next caller of the key in this client then takes the lease without a command, even with a `wait` of zero. If
    /// it asks for a fencing token, it gets its own. See [what that costs other
    /// clients](crate::docs::cookbook#a-hot-key-of-one-process). In [Redisson's record](crate::LockRecord::Redisson) it
    /// is `InvalidOptions`, unless zero.
    pub fn retain(mut self, retain: Duration) -> Acquire {
        self.options.retain = Some(retain);
        self
    }

    /// Records the run of this call, and keeps the last `runs` runs of the lock, 1 to 1 000: when each began and ended,
    /// who did it, and [how it ended](crate::inspect::RunOutcome). [`LockClient::runs`](crate::LockClient::runs),
    /// `lockctl runs` and the page of the lock show them. Default: nothing is recorded.
    ///
    /// A run is what holds the lock: a nested call is part of the call around it, and each reader, each permit and each
    /// caller that takes a lease over within its client has a run of its own. A run is
    /// [done](crate::inspect::RunOutcome::Done) if its guard is released, and
    /// [cancelled](crate::inspect::RunOutcome::Cancelled) if the guard is only dropped. [`run`](Acquire::run) does not
    /// examine the body's output: [mark](crate::LockGuard::mark_failed) a guard whose work has failed.
    ///
    /// That takes two more commands for each run, which no call waits for, and whose failure fails no call: if the server
    /// refuses them, or cannot be reached for half a minute, the run is missing or has no end. A history is kept for 30
    /// days after its last entry. A call for several keys records its run for each of them. A quorum keeps no history:
    /// there this is [`InvalidOptions`](crate::LockErrorKind::InvalidOptions).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// use lock_runtime::inspect::RunOutcome;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// client.lock("report:hourly").runs(20).run(async |_guard| println!("once an hour")).await?;
    /// let last = &client.runs("report:hourly").await?[0];
    /// assert_eq!(last.outcome, RunOutcome::Done);
    /// # Ok(()) }
    /// ```
    pub fn runs(mut self, runs: u32) -> Acquire {
        self.options.runs = Some(runs);
        self
    }

    /// Sets whether a call tree that holds the lock already may enter it again. Default: true. If not, such a call
    /// fails at once with [`Reentered`](crate::LockErrorKind::Reentered).
    pub fn reentrant(mut self, reentrant: bool) -> Acquire {
        self.options.reentrant = Some(reentrant);
        self
    }

    /// Acquires a [fencing token](crate::FencingToken) together with the lock, in the same command.
    /// [`LockGuard::fencing_token`](crate::LockGuard::fencing_token) then sends nothing.
    ///
    /// Call this if you use the token. Without it, taking a free lock costs the server a third, and asking for a token
    /// later takes one or two commands more. If the call joins an outer call that has no token, or takes over a lease without a
    /// token, it asks the server for one before it returns.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{FencingToken, LockClient};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let guard = client.lock("order:42").fenced().acquire().await?;
    /// let token: FencingToken = guard.fencing_token().await?;
    /// # guard.release().await }
    /// ```
    pub fn fenced(mut self) -> Acquire {
        self.options.fenced = true;
        self
    }
}
