//! What a shutdown did.

/// What [`LockClient::shutdown`](crate::LockClient::shutdown) did, for the last line of a log.
///
/// # Examples
///
/// ```
/// # use lock_runtime::LockClient;
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let client = LockClient::memory();
/// let report = client.shutdown().await;
/// assert!(report.is_clean(), "{report:?}");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How many locks were still held when the [grace period](crate::LockClientBuilder::shutdown_grace) was over, and
    /// were lost.
    pub stopped: usize,
    /// How many of them are in use even now, by a synchronous body or a guard that is kept. The server frees them when
    /// their ttl ends.
    pub in_use: usize,
    /// Whether the server answered every release. If not, some locks may remain until their ttl ends, too.
    pub answered: bool,
}

impl ShutdownReport {
    /// Returns whether every body ended by itself and every lock was released.
    pub fn is_clean(&self) -> bool {
        self.stopped == 0 && self.in_use == 0 && self.answered
    }
}

impl Default for ShutdownReport {
    fn default() -> ShutdownReport {
        ShutdownReport {
            stopped: 0,
            in_use: 0,
            answered: true,
        }
    }
}
