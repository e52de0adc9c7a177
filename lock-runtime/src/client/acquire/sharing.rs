//! The options by which callers share a lock.

use super::Acquire;
use super::mode_options::Access;

impl Acquire {
    /// Shares the lock with other readers: any number of them hold it at once, and no writer with them.
    ///
    /// Waiting readers and writers are served in the order in which they came, so neither starves the other. All
    /// readers that hold the lock at once have the same [fencing token](crate::FencingToken).
    ///
    /// A reader's lease is never retained ([`retain`](Acquire::retain)). [Redisson's record](crate::Record::Redisson)
    /// has no readers, writers and permits: there they are `InvalidOptions`.
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
        self.mode.access = Some(Access::Read);
        self
    }

    /// Holds the lock alone, as a call without a mode does. Use it where others [`read`](Acquire::read): the release
    /// admits all waiting readers, and [`Busy`](crate::LockErrorKind::Busy) reports how many hold the lock. Like
    /// [`read`](Acquire::read), it does not work with Redisson's record.
    pub fn write(mut self) -> Acquire {
        self.mode.access = Some(Access::Write);
        self
    }

    /// Shares the lock with others as long as no more than `permits` are taken in all; 1 or more. Each call
    /// takes one, unless [`take`](Acquire::take) sets another number.
    ///
    /// The limit is the caller's own and is stored nowhere: a caller with a limit of 3 waits where three are
    /// taken, while one with a limit of 5 goes in. If a holder crashes, its own permits are free when its ttl
    /// ends. Like [`read`](Acquire::read), it does not work with Redisson's record.
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
        self.mode.permits = Some(permits);
        self
    }

    /// Sets how many of the [`permits`](Acquire::permits) the call takes. Default: 1.
    pub fn take(mut self, take: u32) -> Acquire {
        self.mode.take = Some(take);
        self
    }
}
