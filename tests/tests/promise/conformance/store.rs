//! A backend, as the cases use it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use harness::{
    OPERATOR_RIGHTS, REDISSON_OPERATOR_RIGHTS, REDISSON_RIGHTS, RIGHTS, RedisCluster, RedisQuorum,
    RedisServer, TlsServer, VIEWER_RIGHTS, patient, sentinel_of, sentinel_url,
};
use lock_runtime::{Acquire, LockClient, LockClientBuilder, LockRecord};

use super::tools::{STEADY, ms};

/// What a caller wants: the whole lock, or a share of it.
pub(crate) type Mode = fn(Acquire) -> Acquire;

const MODES: [Mode; 3] = [
    |lock| lock,
    |lock| lock.read(),
    |lock| lock.permits(5).take(2),
];

/// Where locks are kept during one test.
pub(crate) struct Store {
    builder: LockClientBuilder,
    operator: LockClientBuilder,
    watcher: LockClientBuilder,
    /// A part of how errors of other clients name a holder in this process.
    pub(crate) holder: String,
    /// The ttl of a lease that is renewed while a test waits for longer: [`STEADY`] where commands renew it.
    pub(crate) steady: Duration,
    /// The longest ttl that a caller may ask for.
    pub(crate) longest_ttl: Duration,
    /// Whether a caller that takes a free lock has no token until it requests one. Elsewhere each lock comes with a
    /// token.
    pub(crate) mints_when_asked: bool,
    /// Whether waiters queue on the server.
    queues: bool,
    /// The modes that callers of this store may use.
    pub(crate) modes: &'static [Mode],
    /// Whether calls may record their runs.
    pub(crate) records_runs: bool,
    /// The prefix of this store's keys, if other stores share its servers.
    prefix: String,
    servers: Servers,
}

/// The servers to keep running.
enum Servers {
    /// In this process: each client has a store of its own.
    None(LockClient),
    One(RedisServer),
    Tls(TlsServer),
    #[cfg(unix)]
    Unix {
        server: RedisServer,
        _folder: tempfile::TempDir,
    },
    Sentinel {
        server: RedisServer,
        _sentinel: RedisServer,
    },
    Quorum(Arc<RedisQuorum>),
    Cluster(Arc<RedisCluster>),
}

impl Store {
    /// A store without locks.
    fn on(servers: Servers, builder: LockClientBuilder) -> Store {
        Store {
            operator: builder.clone(),
            watcher: builder.clone(),
            builder,
            holder: format!("(pid {})", std::process::id()),
            steady: STEADY,
            longest_ttl: Duration::from_secs(24 * 3600),
            mints_when_asked: true,
            queues: true,
            modes: &MODES,
            records_runs: true,
            prefix: "*".to_owned(),
            servers,
        }
    }

    /// Another client of the store, as different from the first as the backend allows.
    pub(crate) fn client(&self) -> LockClient {
        self.client_of(&self.builder)
    }

    /// Whether waiters queue on the server, so that the next one has the lock with its release.
    pub(crate) fn has_queue(&self) -> bool {
        self.queues
    }

    /// A client whose user may inspect and revoke locks.
    pub(crate) fn operator(&self) -> LockClient {
        self.client_of(&self.operator)
    }

    /// A client whose user may take and inspect locks.
    pub(crate) fn watcher(&self) -> LockClient {
        self.client_of(&self.watcher)
    }

    fn client_of(&self, builder: &LockClientBuilder) -> LockClient {
        match &self.servers {
            Servers::None(client) => client.clone(),
            _ => builder.clone().build().expect("the settings are valid"),
        }
    }

    /// A builder of clients for this kind of store; each client may have a store of its own.
    pub(crate) fn builder(&self) -> LockClientBuilder {
        self.builder.clone()
    }

    /// Whether only fences are left of the locks. The store in this process cannot be inspected: there, the cases
    /// assert that the key is free.
    pub(crate) async fn is_empty(&self) -> bool {
        let servers: Vec<&RedisServer> = match &self.servers {
            Servers::None(_) => vec![],
            Servers::One(server) | Servers::Sentinel { server, .. } => vec![server],
            Servers::Tls(server) => vec![server.plain()],
            #[cfg(unix)]
            Servers::Unix { server, .. } => vec![server],
            Servers::Quorum(quorum) => quorum.nodes.iter().collect(),
            Servers::Cluster(cluster) => cluster.nodes.iter().collect(),
        };
        for server in servers {
            if !has_fences_alone(server, &self.prefix).await {
                return false;
            }
        }
        true
    }
}

/// In this process.
pub(crate) fn memory() -> Store {
    let client = LockClient::memory();
    let builder = LockClient::builder().url("memory://");
    Store {
        // No command renews it: it only has to outlive a stall of this process.
        steady: ms(4_500),
        mints_when_asked: false,
        ..Store::on(Servers::None(client), builder)
    }
}

/// On one server.
pub(crate) fn redis() -> Store {
    let server = RedisServer::start();
    let builder = patient(server.url());
    Store::on(Servers::One(server), builder)
}

/// On one server, as a user with minimal permissions.
pub(crate) fn redis_least_privileged() -> Store {
    let server = RedisServer::start();
    let builder = of_user(&server, "service", &[RIGHTS]);
    Store {
        operator: of_user(&server, "ann", &[VIEWER_RIGHTS, OPERATOR_RIGHTS]),
        watcher: of_user(&server, "watcher", &[RIGHTS, VIEWER_RIGHTS]),
        ..Store::on(Servers::One(server), builder)
    }
}

/// On one server in Redisson's record, as a user with minimal permissions.
pub(crate) fn redissons_record() -> Store {
    let server = RedisServer::start();
    let builder = of_user(&server, "service", &[REDISSON_RIGHTS]);
    let operator = of_user(&server, "ann", &[REDISSON_RIGHTS, REDISSON_OPERATOR_RIGHTS]);
    Store {
        operator: operator.record(LockRecord::Redisson),
        holder: "a lock-runtime client ".to_owned(),
        mints_when_asked: false,
        queues: false,
        modes: &MODES[..1],
        ..Store::on(Servers::One(server), builder.record(LockRecord::Redisson))
    }
}

/// A client of a user who has these rights.
fn of_user(server: &RedisServer, name: &str, rights: &[&[&str]]) -> LockClientBuilder {
    patient(server.user(name, "s3cret", &rights.concat()))
}

/// On one server, over TLS.
pub(crate) fn redis_over_tls() -> Store {
    let (authority, server) = TlsServer::with_authority();
    let builder = patient(server.url()).ca_certificate(authority.pem());
    Store::on(Servers::Tls(server), builder.require_tls(true))
}

/// On one server, over a unix socket.
#[cfg(unix)]
pub(crate) fn redis_over_a_unix_socket() -> Store {
    let folder = tempfile::TempDir::new().expect("a temporary folder can be made");
    let path = folder.path().join("redis.sock");
    let path = path.to_str().expect("temporary folders have plain names");
    let server = RedisServer::builder().config("unixsocket", path).start();
    let builder = patient(format!("redis+unix://{path}"));
    let servers = Servers::Unix {
        server,
        _folder: folder,
    };
    Store::on(servers, builder)
}

/// On the primary that a sentinel names.
pub(crate) fn redis_sentinel() -> Store {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let builder = patient(sentinel_url(&[&sentinel]));
    let servers = Servers::Sentinel {
        server,
        _sentinel: sentinel,
    };
    Store::on(servers, builder)
}

/// On a quorum of three nodes, as a user with minimal permissions. Cases that run at the same time share the nodes:
/// each has a prefix of its own.
pub(crate) fn quorum() -> Store {
    static SHARED: Mutex<Weak<RedisQuorum>> = Mutex::new(Weak::new());
    let (quorum, prefix) = (shared(&SHARED, RedisQuorum::start), unique_prefix());
    quorum.mark(&prefix);
    let builder = patient(quorum.url_of_service()).prefix(prefix.as_str());
    Store {
        operator: patient(quorum.url()).prefix(prefix.as_str()),
        watcher: patient(quorum.url()).prefix(prefix.as_str()),
        longest_ttl: RedisQuorum::DELAY,
        mints_when_asked: false,
        modes: &MODES[..1],
        records_runs: false,
        prefix,
        ..Store::on(Servers::Quorum(quorum), builder)
    }
}

/// On a cluster of three primaries, which cases that run at the same time share: each has a prefix of its own.
pub(crate) fn redis_cluster() -> Store {
    static SHARED: Mutex<Weak<RedisCluster>> = Mutex::new(Weak::new());
    let cluster = shared(&SHARED, || RedisCluster::with(3, 0));
    let prefix = unique_prefix();
    let builder = patient(cluster.url()).prefix(prefix.as_str());
    Store {
        prefix,
        ..Store::on(Servers::Cluster(cluster), builder)
    }
}

/// Returns the servers that the running cases share. The last of these cases stops them.
fn shared<T>(shared: &Mutex<Weak<T>>, start: impl FnOnce() -> T) -> Arc<T> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let started = Arc::new(start());
        *shared = Arc::downgrade(&started);
        started
    })
}

/// A prefix that no other case uses.
fn unique_prefix() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("lock:{}:", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Keys with this prefix.
async fn has_fences_alone(server: &RedisServer, prefix: &str) -> bool {
    let mut connection = server.async_connection().await;
    for start in ["", "{"] {
        let keys: Vec<String> = redis::cmd("KEYS")
            .arg(format!("{start}{prefix}*"))
            .query_async(&mut connection)
            .await
            .expect("the server lists its keys");
        // Includes the marker of a quorum's node.
        let stays = |key: &String| key.ends_with(":f") || key.ends_with("}:n");
        if !keys.iter().all(stays) {
            return false;
        }
    }
    true
}
