//! The servers that keep a round's locks.

use crate::cluster::RedisCluster;
use crate::quorum::RedisQuorum;
use crate::sentinels::RedisSentinels;
use crate::server::RedisServer;

/// One server, or several.
pub trait Site: Sized + 'static {
    /// The load of a round, in rounds on one server: processes use CPU time even when they are
    /// idle.
    const PLACES: usize;

    fn url(&self) -> String;

    /// The server that has a record, at the beginning of a round.
    fn server_of(&self, record: &str) -> &RedisServer;

    /// The servers that must be clean after a round.
    fn servers(&self) -> Vec<&RedisServer>;

    /// The same site for the next round of its row, if repairing it is faster than starting
    /// another.
    fn reused(self) -> Option<Self>;
}

impl Site for RedisServer {
    const PLACES: usize = 1;

    fn url(&self) -> String {
        RedisServer::url(self)
    }

    fn server_of(&self, _record: &str) -> &RedisServer {
        self
    }

    fn servers(&self) -> Vec<&RedisServer> {
        vec![self]
    }

    fn reused(self) -> Option<Self> {
        None
    }
}

impl Site for RedisCluster {
    const PLACES: usize = 3;

    fn url(&self) -> String {
        RedisCluster::url(self)
    }

    fn server_of(&self, record: &str) -> &RedisServer {
        &self.nodes[self.owner(record)]
    }

    fn servers(&self) -> Vec<&RedisServer> {
        self.nodes.iter().collect()
    }

    fn reused(self) -> Option<Self> {
        self.wait_until_whole();
        Some(self)
    }
}

impl Site for RedisSentinels {
    const PLACES: usize = 3;

    fn url(&self) -> String {
        RedisSentinels::url(self)
    }

    fn server_of(&self, _record: &str) -> &RedisServer {
        &self.servers[0]
    }

    /// The primary. Replicas have its data, and the previous primary may be down, or not know yet
    /// that it is a replica.
    fn servers(&self) -> Vec<&RedisServer> {
        let sentinel = self.sentinels.iter().position(RedisServer::is_up);
        let primary = self.named_by(sentinel.expect("a sentinel is left"));
        vec![&self.servers[primary]]
    }

    /// Sentinels start no second failover for a while.
    fn reused(self) -> Option<Self> {
        None
    }
}

impl Site for RedisQuorum {
    const PLACES: usize = 2;

    fn url(&self) -> String {
        RedisQuorum::url(self)
    }

    /// The first node. A row that takes this node away inspects another one.
    fn server_of(&self, _record: &str) -> &RedisServer {
        &self.nodes[0]
    }

    fn servers(&self) -> Vec<&RedisServer> {
        self.nodes.iter().collect()
    }

    fn reused(self) -> Option<Self> {
        None
    }
}
