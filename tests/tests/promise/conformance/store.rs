//! The interface of a backend for the cases.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use harness::{
    Authority, LONG, OPERATOR_RIGHTS, REDISSON_OPERATOR_RIGHTS, REDISSON_RIGHTS, RIGHTS,
    RedisCluster, RedisQuorum, RedisServer, TlsServer, VIEWER_RIGHTS, sentinel_of, sentinel_url,
};
use lock_runtime::{LockClient, LockClientBuilder, Record};

/// Where locks are kept during one test.
pub(crate) trait Store: Send + Sync + 'static {
    /// Creates an empty store.
    fn open() -> Self;

    /// Another client of the store: as different from the first as the backend allows.
    fn client(&self) -> LockClient;

    /// A builder of clients for this kind of store; each client may have a store of its own.
    fn builder(&self) -> LockClientBuilder;

    /// A client of a user who may look at locks, and take them from their holders.
    fn operator(&self) -> LockClient {
        self.client()
    }

    /// A part of how errors of other clients name a holder in this process.
    fn holder(&self) -> String {
        format!("(pid {})", std::process::id())
    }

    /// The longest ttl that a caller may ask for.
    fn longest_ttl(&self) -> Duration {
        Duration::from_secs(24 * 3600)
    }

    /// Whether nothing but fences is left of the locks.
    async fn is_empty(&self) -> bool;
}

/// In this process.
pub(crate) struct Memory(LockClient);

impl Store for Memory {
    fn open() -> Memory {
        Memory(LockClient::memory())
    }

    fn client(&self) -> LockClient {
        self.0.clone()
    }

    fn builder(&self) -> LockClientBuilder {
        LockClient::builder().url("memory://")
    }

    async fn is_empty(&self) -> bool {
        // The store cannot be inspected from outside; the cases assert that the key is free.
        true
    }
}

/// On one server.
pub(crate) struct Redis(pub(crate) RedisServer);

impl Store for Redis {
    fn open() -> Redis {
        Redis(RedisServer::start())
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        patient(self.0.url())
    }

    async fn is_empty(&self) -> bool {
        has_fences_alone(&self.0).await
    }
}

/// On one server, as a user with minimal permissions.
pub(crate) struct LeastPrivileged(RedisServer);

impl Store for LeastPrivileged {
    fn open() -> LeastPrivileged {
        LeastPrivileged(with_service(RIGHTS))
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        of_service(&self.0)
    }

    fn operator(&self) -> LockClient {
        let rights = [VIEWER_RIGHTS, OPERATOR_RIGHTS].concat();
        set_user(&self.0, "ann", &rights);
        let url = self.0.url().replace("://", "://ann:s3cret@");
        patient(url).build().expect("the settings are valid")
    }

    async fn is_empty(&self) -> bool {
        has_fences_alone(&self.0).await
    }
}

/// On one server in Redisson's record, as a user with minimal permissions.
pub(crate) struct RedissonsRecord(RedisServer);

impl Store for RedissonsRecord {
    fn open() -> RedissonsRecord {
        RedissonsRecord(with_service(REDISSON_RIGHTS))
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        of_service(&self.0).record(Record::Redisson)
    }

    fn operator(&self) -> LockClient {
        let rights = [REDISSON_RIGHTS, REDISSON_OPERATOR_RIGHTS].concat();
        set_user(&self.0, "ann", &rights);
        let url = self.0.url().replace("://", "://ann:s3cret@");
        let builder = patient(url).record(Record::Redisson);
        builder.build().expect("the settings are valid")
    }

    fn holder(&self) -> String {
        "a lock-runtime client ".to_owned()
    }

    async fn is_empty(&self) -> bool {
        has_fences_alone(&self.0).await
    }
}

/// A server with a user who has these rights.
fn with_service(rights: &[&str]) -> RedisServer {
    let server = RedisServer::start();
    set_user(&server, "service", rights);
    server
}

/// Has the server know a user with these rights.
fn set_user(server: &RedisServer, name: &str, rights: &[&str]) {
    redis::cmd("ACL")
        .arg("SETUSER")
        .arg(&[name, "reset", "on", ">s3cret"])
        .arg(rights)
        .exec(&mut server.connection())
        .expect("the server knows these rights");
}

/// A client of that user.
fn of_service(server: &RedisServer) -> LockClientBuilder {
    patient(server.url().replace("://", "://service:s3cret@"))
}

/// On one server, over TLS.
pub(crate) struct OverTls {
    authority: Authority,
    server: TlsServer,
}

impl Store for OverTls {
    fn open() -> OverTls {
        let authority = Authority::new();
        let server = TlsServer::start(&authority);
        OverTls { authority, server }
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        patient(self.server.url())
            .ca_certificate(self.authority.pem())
            .require_tls(true)
    }

    async fn is_empty(&self) -> bool {
        has_fences_alone(self.server.plain()).await
    }
}

/// On one server, over a unix socket.
#[cfg(unix)]
pub(crate) struct OverUnix {
    server: RedisServer,
    folder: tempfile::TempDir,
}

#[cfg(unix)]
impl OverUnix {
    const SOCKET: &str = "redis.sock";
}

#[cfg(unix)]
impl Store for OverUnix {
    fn open() -> OverUnix {
        let folder = tempfile::TempDir::new().expect("a temporary folder can be made");
        let path = folder.path().join(OverUnix::SOCKET);
        let path = path.to_str().expect("temporary folders have plain names");
        let server = RedisServer::builder().config("unixsocket", path).start();
        OverUnix { server, folder }
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        let path = self.folder.path().join(OverUnix::SOCKET);
        patient(format!("redis+unix://{}", path.display()))
    }

    async fn is_empty(&self) -> bool {
        has_fences_alone(&self.server).await
    }
}

/// On the primary that a sentinel names.
pub(crate) struct BehindSentinel {
    server: RedisServer,
    sentinel: RedisServer,
}

impl Store for BehindSentinel {
    fn open() -> BehindSentinel {
        let server = RedisServer::start();
        let sentinel = sentinel_of(&server, 1);
        BehindSentinel { server, sentinel }
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        patient(sentinel_url(&[&self.sentinel]))
    }

    async fn is_empty(&self) -> bool {
        has_fences_alone(&self.server).await
    }
}

/// On a quorum of three nodes, as a user with minimal permissions. The cases that run at a time share the nodes: each has
/// a prefix of its own.
pub(crate) struct OnQuorum {
    quorum: Arc<RedisQuorum>,
    url: String,
    prefix: String,
}

impl OnQuorum {
    /// The quorum of the cases that run now. It ends with the last of them.
    fn shared() -> Arc<RedisQuorum> {
        static SHARED: Mutex<Weak<RedisQuorum>> = Mutex::new(Weak::new());
        shared(&SHARED, RedisQuorum::start)
    }
}

impl Store for OnQuorum {
    fn open() -> OnQuorum {
        let (quorum, prefix) = (OnQuorum::shared(), unique_prefix());
        quorum.mark(&prefix);
        OnQuorum {
            url: quorum.url_of_service(),
            quorum,
            prefix,
        }
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        patient(&*self.url).prefix(self.prefix.as_str())
    }

    fn operator(&self) -> LockClient {
        let builder = patient(self.quorum.url()).prefix(self.prefix.as_str());
        builder.build().expect("the settings are valid")
    }

    fn longest_ttl(&self) -> Duration {
        RedisQuorum::DELAY
    }

    async fn is_empty(&self) -> bool {
        for node in &self.quorum.nodes {
            if !has_fences_alone_with(node, &self.prefix).await {
                return false;
            }
        }
        true
    }
}

/// On a cluster of three primaries, which the cases that run at a time share: each has a prefix of its own.
pub(crate) struct OnCluster {
    cluster: Arc<RedisCluster>,
    prefix: String,
}

impl OnCluster {
    /// The cluster of the cases that run now. It ends with the last of them.
    fn shared() -> Arc<RedisCluster> {
        static SHARED: Mutex<Weak<RedisCluster>> = Mutex::new(Weak::new());
        shared(&SHARED, || RedisCluster::with(3, 0))
    }
}

impl Store for OnCluster {
    fn open() -> OnCluster {
        OnCluster {
            cluster: OnCluster::shared(),
            prefix: unique_prefix(),
        }
    }

    fn client(&self) -> LockClient {
        self.builder().build().expect("the settings are valid")
    }

    fn builder(&self) -> LockClientBuilder {
        patient(self.cluster.url()).prefix(self.prefix.as_str())
    }

    async fn is_empty(&self) -> bool {
        for node in &self.cluster.nodes {
            if !has_fences_alone_with(node, &self.prefix).await {
                return false;
            }
        }
        true
    }
}

/// What the cases that run now share. It ends with the last of them.
fn shared<T>(shared: &Mutex<Weak<T>>, start: impl FnOnce() -> T) -> Arc<T> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let started = Arc::new(start());
        *shared = Arc::downgrade(&started);
        started
    })
}

/// A prefix that no other case has.
fn unique_prefix() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("lock:{}:", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A client that waits for answers as long as a busy machine takes: no case is about a silent server.
fn patient(url: impl Into<String>) -> LockClientBuilder {
    LockClient::builder().url(url).command_timeout(LONG)
}

async fn has_fences_alone(server: &RedisServer) -> bool {
    has_fences_alone_of(server, "*").await
}

/// Of the locks with this prefix.
async fn has_fences_alone_with(server: &RedisServer, prefix: &str) -> bool {
    for start in ["", "{"] {
        let pattern = format!("{start}{prefix}*");
        if !has_fences_alone_of(server, &pattern).await {
            return false;
        }
    }
    true
}

async fn has_fences_alone_of(server: &RedisServer, pattern: &str) -> bool {
    let mut connection = server.async_connection().await;
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg(pattern)
        .query_async(&mut connection)
        .await
        .expect("the server lists its keys");
    // And the marker of a quorum's node.
    let stays = |key: &String| key.ends_with(":f") || key.ends_with("}:n");
    keys.iter().all(stays)
}
