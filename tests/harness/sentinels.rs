//! Real sentinels.

use std::time::Duration;

use redis::Value;

use crate::acl::HARNESS;
use crate::port;
use crate::proxy::Proxy;
use crate::scene::ask;
use crate::server::RedisServer;
use crate::tls::{Authority, TlsServer};
use crate::wait::{PATIENCE, wait_until};

/// The name of the primary.
const NAME: &str = "mymaster";

/// After this long without an answer, sentinels consider a server down.
pub const DOWN_AFTER: Duration = Duration::from_secs(3);

/// The longest time of a failover. Sentinels pause for 30 s when the machine was too busy to run
/// them for two, and repeat an election without a winner after twice the `failover-timeout`.
const FAILOVER_PATIENCE: Duration = Duration::from_secs(60);

/// A primary with two replicas, and three sentinels that watch it, on loopback.
#[derive(Debug)]
pub struct RedisSentinels {
    /// The first one is initially the primary.
    pub servers: Vec<RedisServer>,
    /// The sentinels, all with the same configuration.
    pub sentinels: Vec<RedisServer>,
}

impl RedisSentinels {
    /// Starts all of them and waits until each knows the others.
    pub fn start() -> Self {
        let primary = RedisServer::start();
        // Sentinels look for replicas when they start, and then every ten seconds.
        let replicas = [(); 2].map(|()| primary.replica());
        let servers: Vec<_> = [primary].into_iter().chain(replicas).collect();
        let sentinels: Vec<_> = (0..3).map(|_| sentinel_of(&servers[0], 2)).collect();
        let all = Self { servers, sentinels };
        for number in 0..all.sentinels.len() {
            let mut connection = all.sentinels[number].connection();
            wait_until("acquaintance of the sentinels", PATIENCE, || {
                let state: Vec<(String, String)> =
                    ask(&mut connection, &["SENTINEL", "MASTER", NAME]);
                let is = |name: &str, value: &str| {
                    state
                        .iter()
                        .any(|(field, known)| field == name && known == value)
                };
                is("num-other-sentinels", "2") && is("num-slaves", "2") && is("flags", "master")
            });
        }
        all
    }

    pub fn url(&self) -> String {
        let sentinels: Vec<&RedisServer> = self.sentinels.iter().collect();
        sentinel_url(&sentinels)
    }

    /// The number of the server that a sentinel names as the primary.
    pub fn named_by(&self, sentinel: usize) -> usize {
        let mut connection = self.sentinels[sentinel].connection();
        let question = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME];
        let (_, port): (String, u16) = ask(&mut connection, &question);
        let server = self.servers.iter().position(|server| server.port() == port);
        server.expect("the primary is one of the servers")
    }

    /// Makes a sentinel fail over from the first server, and waits until it names another one,
    /// which is returned.
    pub fn fail_over(&self, sentinel: usize) -> usize {
        let mut connection = self.sentinels[sentinel].connection();
        self.wait_until_another(sentinel, || {
            // Refused while a failover is in progress, which ends without an outcome if the
            // sentinel pauses meanwhile.
            let command = redis::cmd("SENTINEL").arg("FAILOVER").arg(NAME).to_owned();
            let _refused = command.exec(&mut connection);
        })
    }

    /// Waits until a sentinel names a server other than the first, which is returned.
    pub fn wait_for_failover(&self, sentinel: usize) -> usize {
        self.wait_until_another(sentinel, || {})
    }

    fn wait_until_another(&self, sentinel: usize, mut order: impl FnMut()) -> usize {
        let mut named = 0;
        wait_until("failover", FAILOVER_PATIENCE, || {
            named = self.named_by(sentinel);
            if named == 0 {
                order();
            }
            named != 0
        });
        named
    }

    /// Waits until all replicas have all writes.
    pub fn wait_for_replication(&self) {
        let replicas = self.servers[1..].iter();
        replicas.for_each(|replica| self.servers[0].wait_for_replica(replica));
    }

    /// Cuts all replicas off from the primary's writes. They are stopped:
    /// [resume](Self::resume_replicas) them.
    pub fn detach_replicas(&self) {
        self.servers[1..].iter().for_each(RedisServer::pause);
        // Otherwise the replicas would continue to read from their sockets.
        let mut primary = self.servers[0].connection();
        let _: i64 = ask(&mut primary, &["CLIENT", "KILL", "TYPE", "replica"]);
    }

    /// Resumes the stopped replicas.
    pub fn resume_replicas(&self) {
        self.servers[1..].iter().for_each(RedisServer::resume);
    }

    /// How many clients are subscribed to a sentinel's failovers.
    pub fn watching(&self, sentinel: usize) -> usize {
        let clients: String = ask(
            &mut self.sentinels[sentinel].connection(),
            &["CLIENT", "LIST"],
        );
        clients.matches(" sub=1 ").count()
    }
}

/// The address for clients of these sentinels.
pub fn sentinel_url(sentinels: &[&RedisServer]) -> String {
    url(sentinels.iter().map(|sentinel| sentinel.port()))
}

/// The address for clients that reach the sentinels through these proxies.
pub(crate) fn sentinel_url_by(proxies: &[Proxy]) -> String {
    url(proxies.iter().map(Proxy::port))
}

fn url(ports: impl Iterator<Item = u16>) -> String {
    let hosts = ports.map(|port| format!("127.0.0.1:{port}"));
    let hosts: Vec<_> = hosts.collect();
    format!("redis-sentinel://{}#{NAME}", hosts.join(","))
}

/// A sentinel that watches a server, and does not know other sentinels yet.
pub fn sentinel_of(server: &RedisServer, quorum: u32) -> RedisServer {
    let sentinel = RedisServer::builder().sentinel().start();
    watch(&sentinel, server.port(), quorum);
    sentinel
}

fn watch(sentinel: &RedisServer, port: u16, quorum: u32) {
    let mut connection = sentinel.connection();
    let (port, quorum) = (port.to_string(), quorum.to_string());
    let monitor = ["SENTINEL", "MONITOR", NAME, "127.0.0.1", &port, &quorum];
    let _: Value = ask(&mut connection, &monitor);
    let down_after = DOWN_AFTER.as_millis().to_string();
    for (option, value) in [
        ("down-after-milliseconds", down_after.as_str()),
        ("failover-timeout", "3000"),
        ("auth-user", HARNESS.0),
        ("auth-pass", HARNESS.1),
    ] {
        let _: Value = ask(&mut connection, &["SENTINEL", "SET", NAME, option, value]);
    }
}

/// A sentinel with a second port for TLS, which is returned. It watches the TLS port of a server.
pub fn tls_sentinel_of(server: &TlsServer, authority: &Authority) -> (RedisServer, u16) {
    let identity = authority.local();
    let port = port::free();
    let sentinel = RedisServer::builder()
        .sentinel()
        .file("ca.pem", &authority.pem())
        .file("server.pem", &identity.certificate)
        .file("server.key", &identity.key)
        .config("tls-ca-cert-file", "ca.pem")
        .config("tls-cert-file", "server.pem")
        .config("tls-key-file", "server.key")
        .config("tls-auth-clients", "no")
        .config("tls-replication", "yes")
        .config("tls-port", &port.to_string())
        .start();
    watch(&sentinel, server.port(), 1);
    (sentinel, port)
}
