//! The nodes of a real quorum.

use std::time::Duration;

use redis::Connection;

use crate::acl::RIGHTS;
use crate::scene::ask;
use crate::server::RedisServer;

/// What the user of a quorum's nodes needs beside [`RIGHTS`].
pub const QUORUM_RIGHTS: &[&str] = &["+info", "+zrank"];

/// Independent servers on loopback, the nodes of a quorum.
#[derive(Debug)]
pub struct RedisQuorum {
    /// The servers, all alike.
    pub nodes: Vec<RedisServer>,
}

impl RedisQuorum {
    /// The restart delay of its [URL](RedisQuorum::url), which is the default.
    pub const DELAY: Duration = Duration::from_secs(60);

    /// Starts three nodes, whose votes count at once.
    pub fn start() -> Self {
        Self::with(3)
    }

    /// The same with so many nodes.
    pub fn with(nodes: usize) -> Self {
        let quorum = Self::unmarked(nodes);
        quorum.mark("lock:");
        quorum
    }

    /// Nodes of which nothing is known: they may have lost data.
    pub fn unmarked(nodes: usize) -> Self {
        let node = || RedisServer::builder().rights(QUORUM_RIGHTS).start();
        Self {
            nodes: (0..nodes).map(|_| node()).collect(),
        }
    }

    /// Marks the nodes as if they had run for long, for the locks with this prefix.
    pub fn mark(&self, prefix: &str) {
        for node in &self.nodes {
            let connection = &mut node.connection();
            let delay = Self::DELAY.as_millis();
            let marker = format!("{} {delay} {:016}", boot(connection), 1);
            ask::<()>(connection, &["SET", &marker_name(prefix), &marker]);
        }
    }

    /// The address for clients, with a restart delay of a minute.
    pub fn url(&self) -> String {
        self.url_with("")
    }

    /// The same with parameters, such as `?restart_delay=1s`.
    pub fn url_with(&self, parameters: &str) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| host_of(&node.url())).collect();
        quorum_url(&hosts, parameters)
    }

    /// The URL of a user with the least rights on all nodes.
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

/// Which run of the server this is, as a marker has it.
pub fn boot(connection: &mut Connection) -> String {
    let info: String = ask(connection, &["INFO", "server"]);
    let id = info.lines().find_map(|line| line.strip_prefix("run_id:"));
    id.expect("a server tells its run")[..16].to_owned()
}
