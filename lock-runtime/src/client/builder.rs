//! How a client is made.

use std::fmt;
use std::time::Duration;

use crate::backend::any::AnyBackend;
use crate::client::lock_client::LockClient;
use crate::config::{Options, bounded_wait, clean_label};
use crate::error::LockError;

/// Settings of a [`LockClient`].
///
/// # Examples
///
/// ```
/// use lock_runtime::LockClient;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), lock_runtime::LockError> {
/// let client = LockClient::builder()
///     .url("redis://127.0.0.1:6379/2")
///     .prefix("shop:lock:")
///     .ttl(Duration::from_secs(20))
///     .wait(Duration::from_secs(3))
///     .label("checkout")
///     .build()?;
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until `connect` or `build`"]
#[derive(Clone)]
pub struct LockClientBuilder {
    pub(super) url: Option<String>,
    pub(super) options: Options,
}

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
}

impl LockClientBuilder {
    /// Where the locks are; required. See [`LockClient::connect`].
    pub fn url(mut self, url: impl Into<String>) -> LockClientBuilder {
        self.url = Some(url.into());
        self
    }

    /// What every key in Redis begins with; `lock:` if not said.
    pub fn prefix(mut self, prefix: impl Into<String>) -> LockClientBuilder {
        self.options.prefix = prefix.into();
        self
    }

    /// The ttl of leases that name none, 20 ms to 24 h; 30 s if not said.
    pub fn ttl(mut self, ttl: Duration) -> LockClientBuilder {
        self.options.ttl = ttl;
        self
    }

    /// The wait of acquisitions that name none; 10 s if not said.
    pub fn wait(mut self, wait: Duration) -> LockClientBuilder {
        self.options.wait = bounded_wait(wait);
        self
    }

    /// This service's name, as others read it in a busy error and people in Redis; the program
    /// and the host if not said. Process id and function are added. At most 64 characters.
    pub fn label(mut self, label: impl AsRef<str>) -> LockClientBuilder {
        self.options.label = Some(clean_label(label.as_ref()));
        self
    }

    /// Stores nothing that names this service in Redis.
    pub fn without_label(mut self) -> LockClientBuilder {
        self.options.label = None;
        self
    }

    /// How long one attempt to reach the server may take, connecting included; 1 s if not said,
    /// at least 10 ms. A wait is exceeded by no more than this.
    pub fn command_timeout(mut self, timeout: Duration) -> LockClientBuilder {
        self.options.command_timeout = bounded_wait(timeout);
        self
    }

    /// Refuses `redis://` with `InvalidOptions`, whatever the host: a port of this machine may lead
    /// to another one. Unix sockets and `memory://` pass, since nothing leaves the machine there.
    pub fn require_tls(mut self, require: bool) -> LockClientBuilder {
        self.options.require_tls = require;
        self
    }

    /// How long [`LockClient::shutdown`] waits for bodies to finish; 30 s if not said.
    pub fn shutdown_grace(mut self, grace: Duration) -> LockClientBuilder {
        self.options.shutdown_grace = bounded_wait(grace);
        self
    }

    /// How many callers of this client, 1 to 16, may have a lock in turn before it goes to another
    /// process that waits for it; 16 if not said, and 1 for a strict order of arrival.
    ///
    /// Such a turn costs no command: the lease passes inside the process, with a fencing token of
    /// its own. It only does so between callers with the same ttl while two thirds of the lease are
    /// left, in the order of their arrival, and for no longer than a second while others wait.
    pub fn local_turns(mut self, turns: u32) -> LockClientBuilder {
        self.options.local_turns = turns;
        self
    }

    /// For how long a lease that nobody else wants stays with this client after the body, where a call
    /// does not [say so itself](crate::Acquire::retain): 1 ms to a third of the ttl; not at all if not said.
    /// Of a shorter ttl it is a third at most.
    ///
    /// Until then the next caller of the same key takes it without a command. A waiter elsewhere ends it
    /// at once; a call elsewhere that does not wait finds the lock busy. Call
    /// [`shutdown`](LockClient::shutdown) before the process exits, or what it retains stays for its ttl.
    /// In memory this has no effect: there are no commands to spare.
    pub fn retain(mut self, retain: Duration) -> LockClientBuilder {
        self.options.retain = retain;
        self
    }

    /// Whether a release waits for the server's answer; it does if not said.
    ///
    /// Without that, a call over a network costs one round trip instead of two. The release goes out
    /// before what its caller asks for next, unless the connection is being made anew or the server does
    /// not know the script or refuses the command that stands for it, and is repeated in the background if
    /// need be. What is given up is the
    /// server's word that the lock was ours to the end: `Ok` then means that the deadline had not
    /// passed and nothing had disproved the lease so far.
    pub fn await_release(mut self, wait: bool) -> LockClientBuilder {
        self.options.await_release = wait;
        self
    }

    /// Whether the connection is read by the background thread alone; it is not by default.
    ///
    /// By default each tokio runtime that uses locks has one task that reads from the connection, so
    /// that a command and its answer cross no threads, and a thread that blocks for a call reads its
    /// answers itself. With this, the client never reads there: no task of its own runs on its callers'
    /// runtimes, and each answer comes by way of the background thread.
    ///
    /// A runtime that was built without I/O cannot read, and the background thread reads for it. tokio
    /// tells that by a panic alone, which is caught but printed, once a connection, unless this is set;
    /// a program that is built with `panic = "abort"` must set it if it has such a runtime.
    pub fn background_only(mut self, only: bool) -> LockClientBuilder {
        self.options.background_only = only;
        self
    }

    /// Makes the client without talking to anybody; it connects when it is first used. Needs no
    /// runtime. [Which of the two](crate::docs::cookbook#starting) a service calls when it starts is a
    /// question of what an outage should do to it. For `rediss://` it reads the certificates, the
    /// system's unless others are given.
    ///
    /// # Errors
    ///
    /// `InvalidOptions` for settings, a URL or certificates that cannot be used.
    pub fn build(self) -> Result<LockClient, LockError> {
        self.options.check()?;
        let url = self.url.as_deref().ok_or_else(|| {
            LockError::invalid_options(
                "a client needs a `url`, such as redis://127.0.0.1:6379 or memory://",
            )
        })?;
        let backend = AnyBackend::open(url, &self.options)?;
        Ok(LockClient::new(backend, self.options))
    }

    /// Makes the client and makes sure that its server answers, with one PING, once. A server that is
    /// slow or away at that moment is an error: see [which of the two](crate::docs::cookbook#starting)
    /// to call.
    ///
    /// # Errors
    ///
    /// As [`build`](LockClientBuilder::build), and as [`LockClient::connect`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the connection up.
    pub async fn connect(self) -> Result<LockClient, LockError> {
        let client = self.build()?;
        client.core().backend.ping().await?;
        Ok(client)
    }
}

impl fmt::Debug for LockClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may hold a password.
        f.debug_struct("LockClientBuilder")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
