//! The nodes of a real quorum.

use std::time::Duration;

use redis::ConnectionLike;

use crate::acl::{QUORUM_RIGHTS, RIGHTS};
use crate::proxy::Proxy;
use crate::scene::ask;
use crate::server::{Builder, RedisServer};

/// Independent servers on loopback: the nodes of a quorum.
#[derive(Debug)]
pub struct RedisQuorum {
    pub nodes: Vec<RedisServer>,
    delay: Duration,
}

impl RedisQuorum {
    /// The default restart delay.
    pub const DELAY: Duration = Duration::from_secs(60);

    /// Starts three nodes, which vote immediately.
    pub fn start() -> Self {
        Self::with(3)
    }

    /// The same with another number of nodes.
    pub fn with(nodes: usize) -> Self {
        Self::of((0..nodes).map(|_| RedisServer::builder()), Self::DELAY)
    }

    /// Nodes with these options, which vote immediately. Their [URL](RedisQuorum::url) has this
    /// restart delay.
    pub fn of(nodes: impl IntoIterator<Item = Builder>, delay: Duration) -> Self {
        let nodes = nodes
            .into_iter()
            .map(|node| node.rights(QUORUM_RIGHTS).start());
        let quorum = Self {
            nodes: nodes.collect(),
            delay,
        };
        quorum.mark("lock:");
        quorum
    }

    /// Nodes without a marker: they may have lost data.
    pub fn unmarked(nodes: usize) -> Self {
        let node = |_| RedisServer::builder().rights(QUORUM_RIGHTS).start();
        Self {
            nodes: (0..nodes).map(node).collect(),
            delay: Self::DELAY,
        }
    }

    /// Marks the nodes as long-running, for the locks with this prefix.
    pub fn mark(&self, prefix: &str) {
        for node in &self.nodes {
            let connection = &mut node.connection();
            let delay = self.delay.as_millis();
            let marker = format!("{} {delay}", boot(connection));
            ask::<()>(connection, &["SET", &marker_name(prefix), &marker]);
        }
    }

    pub fn url(&self) -> String {
        self.url_with(&self.parameters())
    }

    /// The address for clients behind these proxies, one for each node.
    pub fn url_through(&self, proxies: &[Proxy]) -> String {
        let hosts: Vec<String> = proxies.iter().map(|proxy| host_of(&proxy.url())).collect();
        quorum_url(&hosts, &self.parameters())
    }

    fn parameters(&self) -> String {
        match self.delay {
            Self::DELAY => String::new(),
            delay => format!("?restart_delay={}ms", delay.as_millis()),
        }
    }

    /// The same with parameters, such as `?restart_delay=1s`.
    pub fn url_with(&self, parameters: &str) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| host_of(&node.url())).collect();
        quorum_url(&hosts, parameters)
    }

    /// The URL of a user with minimal rights on all nodes.
    pub fn url_of_service(&self) -> String {
        for node in &self.nodes {
            let user = ["ACL", "SETUSER", "service", "reset", "on", ">s3cret"];
            let rights = [&user[..], RIGHTS, QUORUM_RIGHTS].concat();
            ask::<()>(&mut node.connection(), &rights);
        }
        self.url().replacen("://", "://service:s3cret@", 1)
    }
}

/// The URL of a quorum whose nodes are these hosts.
pub fn quorum_url(hosts: &[String], parameters: &str) -> String {
    format!("redlock://{}{parameters}", hosts.join(","))
}

/// The host and port of a `redis://` URL.
pub fn host_of(url: &str) -> String {
    let host = url.strip_prefix("redis://").expect("it is a redis:// URL");
    host.to_owned()
}

/// The name of a node's marker, for the locks with this prefix.
pub fn marker_name(prefix: &str) -> String {
    format!("{{{prefix}}}:n")
}

/// Identifies this run of the server, as in a marker.
pub fn boot(connection: &mut dyn ConnectionLike) -> String {
    let info: String = ask(connection, &["INFO", "server"]);
    let id = info.lines().find_map(|line| line.strip_prefix("run_id:"));
    id.expect("a server reports its run id")[..16].to_owned()
}
