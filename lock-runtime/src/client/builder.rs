//! Configures and creates a client.

use std::fmt;
use std::time::Duration;

use crate::backend::any::AnyBackend;
#[cfg(feature = "redis")]
use crate::backend::redis::RedisClient;
use crate::client::lock_client::LockClient;
use crate::config::address_map::AddressMap;
use crate::config::label::label_of;
use crate::config::{Limits, LockRecord, Options, bounded_wait};
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
    #[cfg(feature = "redis")]
    pub(super) redis: Option<RedisClient>,
    pub(super) options: Options,
}

impl LockClient {
    /// Connects to `url` with default settings and checks that the server answers.
    ///
    /// The URL is one of [these](crate::docs::urls), so one environment variable configures a service.
    /// `memory://` creates a store for this client alone. In a user or a password, percent-encode the characters that
    /// separate parts of a URL. A database requires permission to `SELECT`. Unknown parameters are refused.
    /// [`LockClientBuilder`] sets the certificates for TLS.
    ///
    /// Each process logs one warning per server if the connection to another machine is not encrypted. It logs another
    /// if the server may evict locks: `maxmemory` is set and `maxmemory-policy` is not `noeviction`. The second check
    /// requires permission to run `INFO`; without it nothing is logged.
    ///
    /// # Errors
    ///
    /// `InvalidOptions` if the URL cannot be used, `Unavailable` if the server is not reached within a second,
    /// `Rejected` if it refuses the user or the password.
    ///
    /// This call and each later connection detect a server that cannot keep locks. The error is `Rejected` for a
    /// Sentinel or a cluster node if the URL specifies a single server, for a name that the sentinels do not know, for
    /// Redis 6.0, and for a server without RESP3. It is `Unavailable` for a replica, since that may be promoted: this
    /// call fails at once, while calls of an existing client retry during `wait`.
    ///
    /// A certificate that does not verify, the server's or the client's, is also `Rejected` and not `Unavailable`: a
    /// retry would not help, and the waiting call would look like a slow one. The error describes the defect, and its
    /// [cause](LockError::cause) is the error of the TLS library.
    ///
    /// # Panics
    ///
    /// Inside a tokio runtime that was built without I/O.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the connection.
    pub async fn connect(url: impl AsRef<str>) -> Result<LockClient, LockError> {
        LockClient::builder().url(url.as_ref()).connect().await
    }

    /// Returns a builder with default settings.
    pub fn builder() -> LockClientBuilder {
        LockClientBuilder {
            url: None,
            #[cfg(feature = "redis")]
            redis: None,
            options: Options::default(),
        }
    }
}

impl LockClientBuilder {
    /// Sets the URL of the servers that keep the locks; required, unless the feature `redis` provides another way. See
    /// [`LockClient::connect`].
    pub fn url(mut self, url: impl Into<String>) -> LockClientBuilder {
        self.url = Some(url.into());
        self
    }

    /// Sets the prefix of every key in Redis. Default: `lock:`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> LockClientBuilder {
        self.options.prefix = prefix.into();
        self
    }

    /// Sets the record that stores each lock. Default: [`LockRecord::Native`].
    ///
    /// [`LockRecord::Redisson`] shares locks with Java services that use Redisson's `RLock`. Their names have no
    /// prefix, so set an empty one. A memory client stores no records, but refuses the same options.
    ///
    /// # Examples
    ///
    /// ```
    /// use lock_runtime::{LockClient, LockRecord};
    ///
    /// # fn main() -> Result<(), lock_runtime::LockError> {
    /// let shared_with_java = LockClient::builder()
    ///     .url("redis://127.0.0.1:6379")
    ///     .prefix("")
    ///     .record(LockRecord::Redisson)
    ///     .build()?;
    /// # Ok(()) }
    /// ```
    pub fn record(mut self, record: LockRecord) -> LockClientBuilder {
        self.options.record = record;
        self
    }

    /// Sets the ttl of calls that set none, 20 ms to 24 h. Default: 30 s.
    pub fn ttl(mut self, ttl: Duration) -> LockClientBuilder {
        self.options.ttl = ttl;
        self
    }

    /// Sets the wait of calls that set none. Default: 10 s.
    pub fn wait(mut self, wait: Duration) -> LockClientBuilder {
        self.options.wait = bounded_wait(wait);
        self
    }

    /// Sets the name of this service, at most 64 characters, which Redis and the busy errors of other processes show.
    /// Default: the name of the program. [Redisson's record](LockRecord::Redisson) has no room for it.
    ///
    /// The host, the process id and the function are added: `checkout` becomes `checkout@host-7 (pid 4121) ship`. In
    /// containers, where each process has the id 1, the host tells instances apart. A name that contains an `@`, such
    /// as `checkout@eu-1`, is used as it is, without the host.
    ///
    /// `CLIENT LIST` on the server shows it as the name of the connections, with `-` for white space and for letters outside of
    /// ASCII: `checkout@host-7`.
    pub fn label(mut self, label: impl AsRef<str>) -> LockClientBuilder {
        self.options.label = Some(label_of(label.as_ref()));
        self
    }

    /// Stores nothing in Redis that names this service or its host. Its connections have no name in `CLIENT LIST`.
    pub fn without_label(mut self) -> LockClientBuilder {
        self.options.label = None;
        self
    }

    /// Sets how long one attempt to reach the server may take, connecting included, at least 10 ms. Default: 1 s.
    ///
    /// A call exceeds its wait by at most this time.
    pub fn command_timeout(mut self, timeout: Duration) -> LockClientBuilder {
        self.options.command_timeout = bounded_wait(timeout);
        self
    }

    /// Sets whether `redis://` is refused, with `InvalidOptions`. Default: false.
    ///
    /// This applies to every host: a local port may be forwarded to another machine. Unix sockets and `memory://` are
    /// accepted, since nothing leaves the machine.
    pub fn require_tls(mut self, require: bool) -> LockClientBuilder {
        self.options.require_tls = require;
        self
    }

    /// Sets how long [`LockClient::shutdown`] waits for bodies to finish. Default: 30 s.
    ///
    /// A body that never ends by itself, such as a leader's, holds its lock for all of this time unless it is told. A
    /// [campaign](crate::campaign) is told by its [`until`](crate::Campaign::until), which must complete before the
    /// shutdown, or with it.
    pub fn shutdown_grace(mut self, grace: Duration) -> LockClientBuilder {
        self.options.shutdown_grace = bounded_wait(grace);
        self
    }

    /// Sets how many callers of this client, 1 to 16, may hold a lock in a row while another process waits for it.
    /// Default: 16. With 1, each release hands the lock off to the next waiting process.
    ///
    /// A local turn costs no command: the lease is handed over inside the process, and the turn has its own fencing
    /// token if the lease has tokens. Callers with the same ttl take turns in order of arrival, while two thirds of the
    /// lease are left. While other processes wait, turns continue for at most a second. [Redisson's
    /// record](LockRecord::Redisson) has no local turns.
    ///
    /// Whatever the number, each client has only one exclusive caller per lock in the server's queue. The next one
    /// queues when that caller is done, behind the processes that wait by then. Each reader and each caller for permits
    /// queues for itself, so it may acquire the lock before a writer of its own client that came earlier.
    pub fn local_turns(mut self, turns: u32) -> LockClientBuilder {
        self.options.local_turns = turns;
        self
    }

    /// Sets how long a lease that no other client waits for stays with this client after the body: 1 ms to a third of
    /// the ttl. Default: not at all. Applies to calls that do not [set it themselves](crate::Acquire::retain), capped
    /// at a third of the call's ttl.
    ///
    /// Meanwhile the next caller of the same key takes the lease without a command. A waiter in another client ends the
    /// retention at once; a call there that does not wait finds the lock busy. Call [`shutdown`](LockClient::shutdown)
    /// before the process exits, or retained leases stay taken until their ttl ends. In memory this has no effect,
    /// since there are no commands to save. In [Redisson's record](LockRecord::Redisson) it is `InvalidOptions`, since
    /// a waiter there cannot ask for the lease.
    pub fn retain(mut self, retain: Duration) -> LockClientBuilder {
        self.options.retain = retain;
        self
    }

    /// Sets whether a release waits for the server's answer. Default: true.
    ///
    /// If it does not wait, a call over a network costs one round trip instead of two. The release is still sent before
    /// the caller's next command, unless the connection is being made, or the server does not know the script or
    /// refuses the command. The background retries it if necessary. In exchange, the server does not confirm that the
    /// lock was held to the end: `Ok` only means that the deadline had not passed and nothing had disproved the lease
    /// so far.
    pub fn await_release(mut self, wait: bool) -> LockClientBuilder {
        self.options.await_release = wait;
        self
    }

    /// Sets whether only the background thread reads from the connection. Default: false.
    ///
    /// By default each tokio runtime that uses locks runs one task that reads from the connection, so that a command
    /// and its answer stay on one thread. A thread that blocks in a call reads its answers itself. With this option the
    /// client runs no task on its callers' runtimes, and each answer comes through the background thread.
    ///
    /// A runtime that was built without I/O cannot read, so the background thread reads for it. tokio reports such a
    /// runtime only by a panic, which is caught, but printed once per connection unless this is set. A program with
    /// such a runtime must set this if it is built with `panic = "abort"`.
    pub fn background_only(mut self, only: bool) -> LockClientBuilder {
        self.options.background_only = only;
        self
    }

    /// Sets how many replicas must acknowledge a lock before its caller has it. Default: 0.
    ///
    /// A server answers before its replicas have the write. If it then fails, the promoted replica may grant the lock
    /// to another caller, while the first holder learns of its loss only after it reconnects. With this option a body
    /// starts only once that many replicas have acknowledged its lock. That narrows the window but does not close it:
    /// if there are more replicas, one without the lock may be promoted. Only a fencing token protects the resource
    /// then. All locks of such a client have one, so each acquisition costs the server as much as with
    /// [`fenced`](crate::Acquire::fenced).
    ///
    /// Each acquisition takes one more round trip, on a second connection to the server; concurrent callers share it.
    /// If fewer replicas acknowledge the lock within the [`replica_timeout`](LockClientBuilder::replica_timeout), the
    /// client releases it and retries until the call's wait is over; the call then fails with
    /// [`Unavailable`](crate::LockErrorKind::Unavailable). Renewals do not wait for replicas. In memory this has no
    /// effect.
    ///
    /// The [URL](crate::docs::urls#parameters) parameter `wait_replicas` is equivalent. It is an error if both are set and
    /// differ.
    pub fn wait_replicas(mut self, replicas: u32) -> LockClientBuilder {
        self.options.wait_replicas = Some(replicas);
        self
    }

    /// Sets how long replicas may take to acknowledge a lock: 1 ms to half of the command timeout. Default: 100 ms.
    /// Requires [`wait_replicas`](LockClientBuilder::wait_replicas). The URL parameter is `replica_timeout`, such as
    /// `replica_timeout=100ms`.
    pub fn replica_timeout(mut self, timeout: Duration) -> LockClientBuilder {
        self.options.replica_timeout = Some(timeout);
        self
    }

    /// Sets how long a server remembers the last [fencing token](crate::FencingToken) of a lock, 1 h to 365 days.
    /// Default: a day.
    ///
    /// The remembered token keeps tokens rising if the server's clock is set back by less than this time. Each distinct
    /// key with a token occupies [about 170 bytes](crate::docs::security#the-servers-memory) for that long. Shorten it
    /// if a service locks millions of keys a day with a token, each of them once.
    ///
    /// Set the same value in all clients of a [prefix](LockClientBuilder::prefix). If they differ, tokens still rise,
    /// and the last client to hold a lock decides. In memory, and in [Redisson's record](crate::LockRecord::Redisson),
    /// which has no fence, this has no effect.
    pub fn fence_retention(mut self, retention: Duration) -> LockClientBuilder {
        self.options.fence_retention = retention;
        self
    }

    /// Sets whether spans and events record the key of their lock, in the field `key`. Default: false, since a key may
    /// contain private data; they always record its template. Metrics never have keys.
    ///
    /// At most 128 bytes of a key are shown, cut between characters and followed by `…`. All characters that are not
    /// plain are escaped. [Several locks](LockClient::lock_all) of one call are shown as the first key and the number
    /// of others: `order:1 +2`.
    pub fn log_keys(mut self, log: bool) -> LockClientBuilder {
        self.options.log_keys = log;
        self
    }

    /// Maps the host and port that a cluster announces for a node to the address at which the client reaches it, for
    /// NAT and tunnels. Default: the announced address.
    ///
    /// Nodes in the URL are reached at the URL's addresses. The client calls `map` with an internal mutex held, so it
    /// must not block.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::builder()
    ///     .url("redis-cluster://127.0.0.1:7000")
    ///     .address_map(|_, port| ("127.0.0.1".to_owned(), port)) // a tunnel for each port
    ///     .build()?;
    /// # Ok(()) }
    /// ```
    pub fn address_map(
        mut self,
        map: impl Fn(&str, u16) -> (String, u16) + Send + Sync + 'static,
    ) -> LockClientBuilder {
        self.options.address_map = AddressMap::new(map);
        self
    }

    /// Creates the client without network I/O; it connects at its first use.
    ///
    /// Requires no runtime. The choice between this and `connect` decides [what an outage does at
    /// start-up](crate::docs::cookbook#starting). For `rediss://` this reads the certificates, the system's unless
    /// others are set.
    ///
    /// # Errors
    ///
    /// `InvalidOptions` if the settings, the URL or the certificates cannot be used.
    pub fn build(self) -> Result<LockClient, LockError> {
        self.options.check()?;
        let (backend, limits) = self.open()?;
        Ok(LockClient::new(backend, limits, self.options))
    }

    fn open(&self) -> Result<(AnyBackend, Limits), LockError> {
        #[cfg(feature = "redis")]
        if let Some(client) = &self.redis {
            if self.url.is_some() {
                return Err(LockError::invalid_options(
                    "a client has a `url` or a `redis`, and not both",
                ));
            }
            return AnyBackend::open_redis(client, &self.options);
        }
        let url = self.url.as_deref().ok_or_else(|| {
            LockError::invalid_options(
                "a client needs a `url`, such as redis://127.0.0.1:6379 or memory://",
            )
        })?;
        AnyBackend::open(url, &self.options)
    }

    /// Creates the client and checks with one PING that its server answers.
    ///
    /// If the server is slow or unreachable at that moment, this fails: see [which of the
    /// two](crate::docs::cookbook#starting) to call.
    ///
    /// # Errors
    ///
    /// The same as [`build`](LockClientBuilder::build) and [`LockClient::connect`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the connection.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn url_may_be_a_reference_to_any_text() {
        const URL: &str = "memory://";
        for url in &[URL] {
            LockClient::connect(url).await.unwrap();
        }
        for url in &[Arc::<str>::from(URL)] {
            LockClient::connect(url).await.unwrap();
        }
        LockClient::connect(String::from(URL)).await.unwrap();
    }
}
