//! Why a lock was not acquired, or was lost.

mod kind;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use kind::LockErrorKind;

use crate::key::LockKey;

/// A failure of a lock, never of the function that runs under it.
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

#[derive(Clone)]
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

    /// Returns an error that reads the same. Not `Clone`: a program has each failure once.
    pub(crate) fn duplicate(&self) -> LockError {
        LockError(self.0.clone())
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

    /// Prepends `what` to the detail.
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

    /// Returns the kind of this failure.
    pub fn kind(&self) -> LockErrorKind {
        self.0.kind
    }

    /// Returns the key of the lock that failed, without the client's prefix; `None` if no lock was involved yet.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_ref().map(LockKey::as_str)
    }

    /// Returns the label of the lock's holder at the last attempt, such as `checkout@host-7 (pid 4121) ship`. Its
    /// function is the caller that acquired the lock from the server: the lease may have been handed over inside that
    /// client since.
    pub fn holder(&self) -> Option<&str> {
        self.0.holder.as_deref()
    }

    /// Returns the remaining time of the holder's lease when the caller gave up: unless the holder renews, the lock is
    /// free after that time.
    ///
    /// Use it for a `Retry-After` header, or the delay of a requeued job.
    ///
    /// The value is a hint. Most holders finish earlier, a holder that renews may keep the lock longer, and other
    /// callers may wait for it. It comes with the answer that the lock is held, and costs no command.
    ///
    /// In memory, a renewed lease has no end. It counts as just renewed, so this returns its ttl.
    ///
    /// `None` if the holder has no limit or none is known: a foreign record has no expiry, or the lock had just been
    /// handed off to the next waiter. Also `None` for every error that is not [`Busy`](LockErrorKind::Busy).
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

    /// Returns how long the caller waited before it got this error; `None` if it did not wait.
    pub fn waited(&self) -> Option<Duration> {
        self.0.waited
    }

    /// Returns the error of a [`credentials`](crate::LockClientBuilder::credentials) callback that failed, or of the TLS
    /// library. The latter is for logs: its type is not part of this crate's interface.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.0.cause.as_deref()
    }

    /// Returns whether another holder has the lock.
    pub fn is_busy(&self) -> bool {
        self.kind() == LockErrorKind::Busy
    }

    /// Returns whether the lock was held, and is no longer held or cannot be proved to be.
    pub fn is_lost(&self) -> bool {
        self.kind() == LockErrorKind::Lost
    }

    /// Returns whether the server could not be reached or did not answer in time.
    pub fn is_unavailable(&self) -> bool {
        self.kind() == LockErrorKind::Unavailable
    }

    /// Returns whether the server answered and refused (wrong type, no permission, wrong password, out of memory), or a
    /// TLS certificate could not be verified.
    pub fn is_rejected(&self) -> bool {
        self.kind() == LockErrorKind::Rejected
    }

    /// Returns whether the call tree holds the lock already.
    pub fn is_reentered(&self) -> bool {
        self.kind() == LockErrorKind::Reentered
    }

    /// Returns whether the client was shut down, as it is while its process ends.
    pub fn is_shutdown(&self) -> bool {
        self.kind() == LockErrorKind::Shutdown
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

/// The source is that of the [cause](LockError::cause), whose own text the message has already: whatever prints a whole
/// chain, such as `{:#}` of `anyhow`, prints each text once.
impl Error for LockError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause()?.source()
    }
}

/// Lets functions that return [`std::io::Result`] use `?` without an error type of their own.
///
/// `Busy` becomes [`ResourceBusy`](std::io::ErrorKind::ResourceBusy), and not `WouldBlock`, which loops around sockets
/// take for "ask again at once".
impl From<LockError> for std::io::Error {
    fn from(error: LockError) -> std::io::Error {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            LockErrorKind::Busy => ErrorKind::ResourceBusy,
            LockErrorKind::Unavailable => ErrorKind::TimedOut,
            LockErrorKind::Rejected => ErrorKind::PermissionDenied,
            LockErrorKind::InvalidKey | LockErrorKind::InvalidOptions => ErrorKind::InvalidInput,
            _ => ErrorKind::Other,
        };
        std::io::Error::new(kind, error)
    }
}

/// Formats a wait for people: in whole milliseconds, or in seconds from 10 s on.
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
        assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
        assert!(error.get_ref().unwrap().is::<LockError>());
    }

    #[test]
    fn error_is_small_and_crosses_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<LockError>();
        assert_eq!(size_of::<LockError>(), size_of::<usize>());
    }
}
