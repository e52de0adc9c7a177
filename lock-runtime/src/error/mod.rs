//! Why a lock was not acquired, or was lost.

mod kind;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use kind::LockErrorKind;

use crate::key::LockKey;

/// A failure of a lock, and never of the function that runs under it.
///
/// Match on [`kind`](LockError::kind), or use [`is_busy`](LockError::is_busy) and the methods like it:
/// contention, outage, loss and misuse need different responses.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, LockErrorKind};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
/// let client = LockClient::memory();
/// let _held = client.lock("order:42").acquire().await?;
/// let error = client.lock("order:42").wait(Duration::ZERO).acquire().await.unwrap_err();
/// assert_eq!(error.kind(), LockErrorKind::Busy);
/// assert_eq!(error.key(), Some("order:42"));
/// # Ok(()) }
/// ```
///
#[cfg_attr(feature = "macros", doc = include_str!("../failure_path.md"))]
pub struct LockError(Box<Repr>);

struct Repr {
    kind: LockErrorKind,
    key: Option<LockKey>,
    holder: Option<String>,
    retry_after: Option<Duration>,
    waited: Option<Duration>,
    detail: Option<String>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl LockError {
    pub(crate) fn new(kind: LockErrorKind) -> LockError {
        LockError(Box::new(Repr {
            kind,
            key: None,
            holder: None,
            retry_after: None,
            waited: None,
            detail: None,
            cause: None,
        }))
    }

    pub(crate) fn invalid_options(reason: impl Into<String>) -> LockError {
        LockError::new(LockErrorKind::InvalidOptions).with_detail(reason)
    }

    pub(crate) fn with_key(mut self, key: &LockKey) -> LockError {
        self.0.key = Some(key.clone());
        self
    }

    pub(crate) fn with_holder(mut self, holder: impl Into<String>) -> LockError {
        self.0.holder = Some(holder.into());
        self
    }

    pub(crate) fn with_retry_after(mut self, retry_after: Option<Duration>) -> LockError {
        self.0.retry_after = retry_after;
        self
    }

    pub(crate) fn with_waited(mut self, waited: Duration) -> LockError {
        self.0.waited = Some(waited);
        self
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> LockError {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds to the detail what comes before it.
    pub(crate) fn with_detail_before(mut self, what: &str) -> LockError {
        self.0.detail = Some(match self.0.detail.take() {
            Some(detail) => format!("{what}: {detail}"),
            None => what.to_owned(),
        });
        self
    }

    pub(crate) fn with_cause(mut self, cause: Option<Arc<dyn Error + Send + Sync>>) -> LockError {
        self.0.cause = cause;
        self
    }

    /// Which kind of failure this is.
    pub fn kind(&self) -> LockErrorKind {
        self.0.kind
    }

    /// The key of the lock that failed, without the client's prefix; `None` if no lock was involved yet.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_ref().map(LockKey::as_str)
    }

    /// The holder of the lock at the last attempt, in words: `checkout@host-7 (pid 4121) ship`. The function is that of
    /// the caller that acquired it from the server: the lease may have been handed over inside its client
    /// since.
    pub fn holder(&self) -> Option<&str> {
        self.0.holder.as_deref()
    }

    /// When the lock is free at the latest, unless its holder renews: what was left of the holder's lease when the
    /// caller gave up. For a `Retry-After` header, or the delay of a job that is queued again.
    ///
    /// A hint. Most holders are done earlier, one that renews may hold for longer, and other callers may wait for the
    /// lock. It comes with the answer that the lock is held, and costs no command.
    ///
    /// In memory, a lease that renews has no end. It counts as if it had just been renewed, which leaves its ttl.
    ///
    /// `None` if nothing limits the holder or no limit is known: a foreign record has no expiry, or the lock had just been
    /// handed to the next waiter. `None` for each error that is not [`Busy`](LockErrorKind::Busy).
    ///
    /// # Examples
    ///
    /// ```
    /// use lock_runtime::LockClient;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let lock = || client.lock("order:42").ttl(Duration::from_secs(8)).renew(false);
    /// let _held = lock().acquire().await?;
    /// let error = lock().wait(Duration::ZERO).acquire().await.unwrap_err();
    /// let left = error.retry_after().expect("this lease is not renewed");
    /// assert!(left <= Duration::from_secs(8));
    /// # Ok(()) }
    /// ```
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// How long the caller waited before it got this error; `None` if it did not wait.
    pub fn waited(&self) -> Option<Duration> {
        self.0.waited
    }

    /// Another holder has the lock.
    pub fn is_busy(&self) -> bool {
        self.kind() == LockErrorKind::Busy
    }

    /// The lock was held and is not held any more, or cannot be proved to be.
    pub fn is_lost(&self) -> bool {
        self.kind() == LockErrorKind::Lost
    }

    /// The server could not be reached or did not answer in time.
    pub fn is_unavailable(&self) -> bool {
        self.kind() == LockErrorKind::Unavailable
    }

    /// The server answered and refused: wrong type, no permission, wrong password, out of memory. Or there is
    /// no TLS session with it: a certificate cannot be verified.
    pub fn is_rejected(&self) -> bool {
        self.kind() == LockErrorKind::Rejected
    }

    /// The call tree holds the lock already.
    pub fn is_reentered(&self) -> bool {
        self.kind() == LockErrorKind::Reentered
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.key {
            Some(key) => write!(f, "lock `{key}` {}", self.0.kind.of_a_lock())?,
            None => f.write_str(self.0.kind.of_the_client())?,
        }
        let mut separator = ": ";
        let mut part = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let written = write!(f, "{separator}{text}");
            separator = ", ";
            written
        };
        if let Some(holder) = &self.0.holder {
            part(f, format_args!("held by {holder}"))?;
        }
        if let Some(detail) = &self.0.detail {
            part(f, format_args!("{detail}"))?;
        }
        if let Some(waited) = self.0.waited {
            part(f, format_args!("waited {}", Waited(waited)))?;
        }
        Ok(())
    }
}

impl fmt::Debug for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockError")
            .field("kind", &self.0.kind)
            .field("message", &self.to_string())
            .finish()
    }
}

/// A failed TLS handshake has a source for logs, the error of the TLS library, whose type is not part of this crate's
/// interface. So has a failed callback of [`credentials`](crate::LockClientBuilder::credentials): its own error.
impl Error for LockError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.0.cause.as_deref()?;
        Some(cause)
    }
}

/// Functions that return [`std::io::Result`] need no error type of their own.
impl From<LockError> for std::io::Error {
    fn from(error: LockError) -> std::io::Error {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            LockErrorKind::Busy => ErrorKind::WouldBlock,
            LockErrorKind::Unavailable => ErrorKind::TimedOut,
            LockErrorKind::Rejected => ErrorKind::PermissionDenied,
            LockErrorKind::InvalidKey | LockErrorKind::InvalidOptions => ErrorKind::InvalidInput,
            _ => ErrorKind::Other,
        };
        std::io::Error::new(kind, error)
    }
}

/// A wait for readers: whole milliseconds, and seconds from 10 s on.
struct Waited(Duration);

impl fmt::Display for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(10) {
            write!(f, "{} ms", self.0.as_millis())
        } else {
            write!(f, "{:.1} s", self.0.as_secs_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_error_names_the_holder_and_the_wait() {
        let error = LockError::new(LockErrorKind::Busy)
            .with_key(&LockKey::from("order:42"))
            .with_holder("api-7 (pid 4121) ship")
            .with_waited(Duration::from_millis(400));
        assert_eq!(
            error.to_string(),
            "lock `order:42` is busy: held by api-7 (pid 4121) ship, waited 400 ms"
        );
        assert!(error.is_busy() && !error.is_unavailable());
    }

    #[test]
    fn other_kinds_read_as_one_sentence() {
        let key = LockKey::from("order:42");
        let lost = LockError::new(LockErrorKind::Lost)
            .with_key(&key)
            .with_detail("its lease ran out");
        assert_eq!(
            lost.to_string(),
            "lock `order:42` was lost: its lease ran out"
        );
        let missing = LockError::new(LockErrorKind::NotInstalled);
        assert_eq!(
            missing.to_string(),
            "no lock client is installed; call `install()` on one at start-up"
        );
        let waited = LockError::new(LockErrorKind::Unavailable)
            .with_key(&key)
            .with_waited(Duration::from_millis(12_345));
        assert_eq!(
            waited.to_string(),
            "lock `order:42` is unavailable: waited 12.3 s"
        );
    }

    #[test]
    fn io_error_contains_the_lock_error() {
        let error = std::io::Error::from(LockError::new(LockErrorKind::Busy));
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        assert!(error.get_ref().unwrap().is::<LockError>());
    }

    #[test]
    fn error_is_small_and_crosses_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<LockError>();
        assert_eq!(size_of::<LockError>(), size_of::<usize>());
    }
}
