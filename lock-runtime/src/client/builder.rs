//! How a client is made.

use std::fmt;
use std::time::Duration;

use crate::backend::any::AnyBackend;
use crate::client::lock_client::LockClient;
use crate::config::address_map::AddressMap;
use crate::config::label::label_of;
use crate::config::{LockRecord, Options, bounded_wait};
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
    /// Connects to `url` with default settings, and checks that the server answers.
    ///
    /// The URL is one of [these](crate#where-the-locks-are), so one environment variable configures
    /// a service. `memory://` makes a store of this client's own. Characters that separate parts of a URL are
    /// percent-encoded in a user and a password. A database takes the right to `SELECT`. Other parameters
    /// are refused. [`LockClientBuilder`] has the certificates for TLS.
    ///
    /// Each process logs one warning per server when the connection to another machine is not encrypted. It
    /// logs another when the server may evict locks: `maxmemory` is set and `maxmemory-policy` is not
    /// `noeviction`. The latter takes the right to `INFO`; without it nothing is logged.
    ///
    /// # Errors
    ///
    /// `InvalidOptions` for a URL that cannot be used, `Unavailable` when the server is not
    /// reached within a second, `Rejected` when it refuses the user or the password.
    ///
    /// A server that cannot keep locks is recognised here and at each later connection. A Sentinel whose
    /// URL does not say so, a name that the sentinels do not know, Redis 6.0, a server without RESP3 and a
    /// node of a cluster whose URL names one server are `Rejected`. A replica is `Unavailable`, since it may be
    /// promoted: this call fails at once, and calls of an existing client repeat their attempts during `wait`.
    ///
    /// A certificate that does not verify, the server's or ours, is `Rejected` as well, and not `Unavailable`:
    /// another attempt would not help, and a waiting call would look like a slow one. The error describes the
    /// defect, and its source is the error of the TLS library.
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
    /// The URL of the locks; required. See [`LockClient::connect`].
    pub fn url(mut self, url: impl Into<String>) -> LockClientBuilder {
        self.url = Some(url.into());
        self
    }

    /// Prefix of every key in Redis. Default: `lock:`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> LockClientBuilder {
        self.options.prefix = prefix.into();
        self
    }

    /// In which record the locks are kept. Default: [`LockRecord::Native`].
    ///
    /// [`LockRecord::Redisson`] is for locks that Java services hold as well, by Redisson's `RLock`. Their names have no
    /// prefix, so set that to an empty one. In memory there are no records; such a client refuses the same options.
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

    /// The ttl of calls that set none, 20 ms to 24 h. Default: 30 s.
    pub fn ttl(mut self, ttl: Duration) -> LockClientBuilder {
        self.options.ttl = ttl;
        self
    }

    /// The wait of calls that set none. Default: 10 s.
    pub fn wait(mut self, wait: Duration) -> LockClientBuilder {
        self.options.wait = bounded_wait(wait);
        self
    }

    /// The name of this service, as it appears in the busy errors of other processes and in Redis. Default: the name of
    /// the program. At most 64 characters. [Redisson's record](LockRecord::Redisson) has no room for it.
    ///
    /// The host, the process id and the function are added: `checkout` becomes `checkout@host-7 (pid 4121) ship`. In
    /// containers, where each process has the id 1, instances differ by their host. A name with an `@` in it is taken
    /// as it is, and no host is added: `checkout@eu-1`.
    pub fn label(mut self, label: impl AsRef<str>) -> LockClientBuilder {
        self.options.label = Some(label_of(label.as_ref()));
        self
    }

    /// Stores nothing that names this service or its host in Redis.
    pub fn without_label(mut self) -> LockClientBuilder {
        self.options.label = None;
        self
    }

    /// How long one attempt to reach the server may take, connecting included, at least 10 ms. Default: 1 s. A
    /// wait is exceeded by no more than this.
    pub fn command_timeout(mut self, timeout: Duration) -> LockClientBuilder {
        self.options.command_timeout = bounded_wait(timeout);
        self
    }

    /// Refuses `redis://` with `InvalidOptions`, whatever the host: a port of this machine may lead to another
    /// one. Unix sockets and `memory://` are accepted, since nothing leaves the machine there.
    pub fn require_tls(mut self, require: bool) -> LockClientBuilder {
        self.options.require_tls = require;
        self
    }

    /// How long [`LockClient::shutdown`] waits for bodies to finish. Default: 30 s.
    pub fn shutdown_grace(mut self, grace: Duration) -> LockClientBuilder {
        self.options.shutdown_grace = bounded_wait(grace);
        self
    }

    /// How many callers of this client, 1 to 16, may have a lock in turn before another process that waits for
    /// it gets it. Default: 16. With 1, a caller that is done leaves the lock to the next process that waits.
    ///
    /// Such a turn costs no command: the lease is handed over inside the process, with a fencing token of its
    /// own if the lease has tokens. That happens in the order of arrival, between callers with the same ttl, while two
    /// thirds of the lease are left. While other processes wait, it goes on for no longer than a second.
    /// In [Redisson's record](LockRecord::Redisson) there are no such turns.
    ///
    /// Whatever the number, only one caller of a client that wants the lock alone queues on the server. The next one
    /// queues when that one is done, behind the other processes that wait by then. Each reader and each holder of permits
    /// queues for itself, so it may go in before a writer of its own client that came earlier.
    pub fn local_turns(mut self, turns: u32) -> LockClientBuilder {
        self.options.local_turns = turns;
        self
    }

    /// How long a lease that no other client waits for stays with this client after the body: 1 ms to a third
    /// of the ttl. Default: not at all. For calls that do not [set it themselves](crate::Acquire::retain); in
    /// a call with a shorter ttl it is at most a third of that.
    ///
    /// Meanwhile the next caller of the same key takes the lease without a command. A waiter in another client
    /// ends it at once; a call there that does not wait finds the lock busy. Call
    /// [`shutdown`](LockClient::shutdown) before the process exits, or retained leases stay for their ttl.
    /// In memory this has no effect: there are no commands to save. In [Redisson's record](LockRecord::Redisson) it is
    /// `InvalidOptions`, since a waiter there cannot ask for the lease.
    pub fn retain(mut self, retain: Duration) -> LockClientBuilder {
        self.options.retain = retain;
        self
    }

    /// Whether a release waits for the server's answer. Default: true.
    ///
    /// Without the answer, a call over a network costs one round trip instead of two. The release is sent before
    /// the caller's next command. Exceptions are a connection that is being made, and a server that does not
    /// know the script or refuses the command in its place. If need be, the background repeats it. The price
    /// is the server's confirmation that the lock was held to the end. `Ok` then means that the deadline had
    /// not passed and nothing had disproved the lease so far.
    pub fn await_release(mut self, wait: bool) -> LockClientBuilder {
        self.options.await_release = wait;
        self
    }

    /// Whether the background thread alone reads from the connection. Default: false.
    ///
    /// By default each tokio runtime that uses locks has one task that reads from the connection, so that a
    /// command and its answer cross no threads. A thread that blocks for a call reads its answers itself. With
    /// this option the client runs no task on its callers' runtimes, and each answer comes by way of the
    /// background thread.
    ///
    /// A runtime that was built without I/O cannot read, and the background thread reads for it. tokio reports
    /// such a runtime only by a panic, which is caught but printed, once per connection, unless this is set. A
    /// program that is built with `panic = "abort"` must set it if it has such a runtime.
    pub fn background_only(mut self, only: bool) -> LockClientBuilder {
        self.options.background_only = only;
        self
    }

    /// The number of replicas that must have a lock before its caller has it. Default: 0.
    ///
    /// A server answers before its replicas have a write. If it fails then, the replica that takes over may give the
    /// lock to another caller, while the first one learns of its loss only when it is connected again. With this option a body
    /// starts only once that many replicas have acknowledged its lock. That narrows the window and does not close it: where
    /// there are more replicas, one without the lock may be promoted. Only a fencing token protects the resource then. All
    /// locks of such a client have one, so each acquisition costs the server as much as with
    /// [`fenced`](crate::Acquire::fenced).
    ///
    /// Each acquisition takes one more round trip, on a second connection to the server, which callers that come
    /// together share. If fewer replicas acknowledge the lock within the
    /// [`replica_timeout`](LockClientBuilder::replica_timeout), it is given back and asked for again while the call's
    /// wait lasts; then the call fails with [`Unavailable`](crate::LockErrorKind::Unavailable). Renewals do not wait. In
    /// memory this has no effect.
    ///
    /// The parameter `wait_replicas` of a [URL](crate#where-the-locks-are) says the same. It is an error if the two
    /// differ.
    pub fn wait_replicas(mut self, replicas: u32) -> LockClientBuilder {
        self.options.wait_replicas = Some(replicas);
        self
    }

    /// How long replicas may take to acknowledge a lock: 1 ms to half of the command timeout. Default: 100 ms. Only with
    /// [`wait_replicas`](LockClientBuilder::wait_replicas). In a URL, it is the parameter `replica_timeout`, such as
    /// `100ms`.
    pub fn replica_timeout(mut self, timeout: Duration) -> LockClientBuilder {
        self.options.replica_timeout = Some(timeout);
        self
    }

    /// How long a server remembers the last [fencing token](crate::FencingToken) of a lock, 1 h to 365 days. Default: a
    /// day.
    ///
    /// That memory keeps tokens rising although the server's clock is set back: by less than this. Each different key with a
    /// token takes [about 170 bytes](crate::docs::security#the-servers-memory) for as long. A shorter memory is for services
    /// with millions of keys a day, each of which is locked once with a token.
    ///
    /// Set the same in all clients of a [prefix](LockClientBuilder::prefix). Where they differ, tokens still rise, and the
    /// client that had a lock last decides for how long. In memory, and in [Redisson's record](crate::LockRecord::Redisson),
    /// which has no fence, this has no effect.
    pub fn fence_retention(mut self, memory: Duration) -> LockClientBuilder {
        self.options.fence_retention = memory;
        self
    }

    /// Whether spans and events have the key of the lock that they are about, in the field `key`. Default: false, since a
    /// key may contain private data; they have its template all the same. Metrics never have keys.
    ///
    /// Of a key, 128 bytes are shown at most, cut between characters and followed by `…`. All but plain characters are
    /// escaped. [Several locks](LockClient::lock_all) of one call are shown as the first one and the number of others:
    /// `order:1 +2`.
    pub fn log_keys(mut self, log: bool) -> LockClientBuilder {
        self.options.log_keys = log;
        self
    }

    /// Where the nodes of a cluster are reached, given the host and port that the cluster announces for one: for
    /// networks that translate addresses, and tunnels. Default: there.
    ///
    /// The nodes that the URL names are reached where it says. Called with a lock of the client held, so it must not
    /// block.
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

    /// Creates the client without network I/O; it connects when it is first used. Needs no runtime. Whether a
    /// service calls this or `connect` decides [what an outage does at its start](crate::docs::cookbook#starting).
    /// For `rediss://` the certificates are read, the system's unless others are set.
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
        let (backend, limits) = AnyBackend::open(url, &self.options)?;
        Ok(LockClient::new(backend, limits, self.options))
    }

    /// Creates the client and checks with one PING that its server answers. A server that is slow or away at
    /// that moment is an error: see [which of the two](crate::docs::cookbook#starting) to call.
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
