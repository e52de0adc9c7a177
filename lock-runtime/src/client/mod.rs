//! A client: where the locks are, and what is taken for granted.

pub(crate) mod acquire;
mod builder;
pub(crate) mod guard;
pub(crate) mod holder_labels;
pub mod testing;
#[cfg(feature = "tls")]
mod tls;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use builder::LockClientBuilder;

use crate::backend::admission::Admission;
use crate::backend::any::AnyBackend;
use crate::backend::memory::Memory;
use crate::client::acquire::Acquire;
use crate::client::holder_labels::Labels;
use crate::config::Options;
use crate::error::{LockError, LockErrorKind};
use crate::key::LockKey;
use crate::lease::LossReason;
use crate::telemetry;

/// A way to the locks, cheap to clone; clones are the same client.
///
/// One a process is enough. It has one connection to its server, made by a background thread, so it works
/// from any runtime and from none. Each runtime that uses locks reads from that connection itself, as does
/// a thread that blocks for a call, so a call does not change threads.
///
/// # Examples
///
/// ```no_run
/// # async fn start() -> Result<(), lock_runtime::LockError> {
/// use lock_runtime::LockClient;
///
/// LockClient::connect("redis://127.0.0.1:6379").await?.install()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct LockClient {
    inner: Arc<Inner>,
}

struct Inner {
    /// Tells clients apart in a call tree: a number is never given twice in a process.
    id: u64,
    options: Options,
    labels: Labels,
    backend: AnyBackend,
    admission: Arc<Admission>,
}

impl Drop for Inner {
    /// What is retained waits for callers that cannot come any more.
    fn drop(&mut self) {
        self.backend.stop_retaining();
    }
}

static INSTALLED: OnceLock<LockClient> = OnceLock::new();

impl LockClient {
    /// Connects to `url` with default settings, and makes sure that the server answers.
    ///
    /// The URL is one of [these](crate#where-the-locks-are), so one environment variable configures
    /// a service. `memory://` makes a store of this client's own. User, password and path may be
    /// percent-encoded, and must be where they contain `@`, `:`, `/`, `?`, `#` or `%`. A database
    /// takes the right to `SELECT`. Other parameters are refused. [`LockClientBuilder`] has the
    /// certificates for TLS.
    ///
    /// Each process logs a warning, once a server, when it talks to another machine without
    /// encryption, and when the server may evict locks: `maxmemory` is set and `maxmemory-policy`
    /// is not `noeviction`. The latter takes the right to `INFO`; without it nothing is logged.
    ///
    /// # Errors
    ///
    /// `InvalidOptions` for a URL that cannot be used, `Unavailable` when the server is not
    /// reached within a second, `Rejected` when it refuses the user or the password.
    ///
    /// A server that cannot keep locks is told from one that can, here and at each later connection. A
    /// node of a cluster (also of a cluster of one, whose keys may move), a Sentinel, a Redis before
    /// 6.2 and whatever does not speak RESP3 are `Rejected`; clusters are not supported yet. A replica is
    /// `Unavailable`: this fails at once, and a call of a client that is there asks again for as long
    /// as its `wait`, since the replica may be promoted.
    ///
    /// A certificate that does not verify, the server's or ours, is `Rejected` as well, and not
    /// `Unavailable`: to try again would not help, and a waiting call would look like a slow one.
    /// The error says what is wrong with it, and its source is what the TLS library said.
    ///
    /// # Panics
    ///
    /// Inside a tokio runtime that was built without I/O.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the connection up.
    pub async fn connect(url: &str) -> Result<LockClient, LockError> {
        LockClient::builder().url(url).connect().await
    }

    /// A builder with default settings.
    pub fn builder() -> LockClientBuilder {
        LockClientBuilder {
            url: None,
            options: Options::default(),
        }
    }

    /// A client whose locks live in this process: for programs of one process, and for
    /// [tests](crate::docs::testing), which can have them [busy or lost](crate::client::testing) on purpose.
    ///
    /// Clones share the store; two calls of `memory()` do not. Asynchronous calls stay on their
    /// caller's runtime and go by its clock, so that paused time works; synchronous ones go by the
    /// real clock.
    pub fn memory() -> LockClient {
        LockClient::new(AnyBackend::Memory(Memory::new()), Options::default())
    }

    pub(crate) fn new(backend: AnyBackend, options: Options) -> LockClient {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        telemetry::describe();
        LockClient {
            inner: Arc::new(Inner {
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                labels: Labels::new(options.label.as_deref()),
                options,
                backend,
                admission: Arc::default(),
            }),
        }
    }

    /// Makes this the client of every attribute in this process that names no other.
    ///
    /// # Errors
    ///
    /// `AlreadyInstalled` the second time.
    pub fn install(&self) -> Result<(), LockError> {
        INSTALLED
            .set(self.clone())
            .map_err(|_| LockError::new(LockErrorKind::AlreadyInstalled))
    }

    /// The client that was installed.
    ///
    /// # Errors
    ///
    /// `NotInstalled` if none was. There is no silent default: a lock that only this process
    /// sees would look just like one that all respect.
    pub fn installed() -> Result<LockClient, LockError> {
        INSTALLED
            .get()
            .cloned()
            .ok_or_else(|| LockError::new(LockErrorKind::NotInstalled))
    }

    /// A lock to be asked for. The key is checked when it is.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// # let client = LockClient::memory();
    /// match client.lock("report:daily").try_acquire().await? {
    ///     Some(guard) => println!("ours, token {}", guard.fencing_token()),
    ///     None => println!("somebody else is at it"),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn lock(&self, key: impl Into<LockKey>) -> Acquire {
        Acquire::new(self.clone(), key.into())
    }

    /// Ends the client in good order: new acquisitions and waiting ones fail with `Shutdown`,
    /// bodies that run may finish within the builder's
    /// [`shutdown_grace`](LockClientBuilder::shutdown_grace), those that do not are told that
    /// their lock is lost, and every lock that is given back is released before this returns, if the
    /// server answers within two command timeouts.
    ///
    /// A lock whose holder cannot be stopped, a synchronous body or a guard that is kept, is not
    /// released under its feet: it is not renewed any more, and its ttl frees it.
    ///
    /// Call it when a server begins to drain its requests and
    /// [not after that](crate::docs::cookbook#leaving-in-good-order): the grace begins here.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the client closed and the bodies running.
    pub async fn shutdown(&self) {
        let Inner {
            admission,
            backend,
            options,
            ..
        } = &*self.inner;
        admission.close();
        backend.stop_retaining();
        // A forked child has nothing to wait for, and nobody to do it: its parent's locks are its
        // parent's.
        if backend.check_process().is_err() {
            return;
        }
        let ended = self.within(options.shutdown_grace, admission.empty()).await;
        if !ended {
            for lease in backend.live() {
                lease.lose(LossReason::Shutdown);
            }
            self.within(options.command_timeout, admission.empty())
                .await;
        }
        self.within(options.command_timeout * 2, backend.settled())
            .await;
    }

    /// Whether `work` was done within `time`.
    async fn within(&self, time: Duration, work: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = work => true,
            () = self.inner.backend.sleep(time) => false,
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.inner.labels
    }

    pub(crate) fn backend(&self) -> &AnyBackend {
        &self.inner.backend
    }

    pub(crate) fn admission(&self) -> &Arc<Admission> {
        &self.inner.admission
    }
}

impl fmt::Debug for LockClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockClient")
            .field("engine", &self.inner.backend)
            .field("prefix", &self.inner.options.prefix)
            .finish_non_exhaustive()
    }
}
