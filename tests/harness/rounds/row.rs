//! One fault, and its required outcome.

use std::fmt;

use super::round::Round;
use crate::cluster::RedisCluster;
use crate::quorum::RedisQuorum;
use crate::sentinels::RedisSentinels;
use crate::server::RedisServer;

/// The guarantee of a lock under a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Exclusion must hold.
    E,
    /// No lease can hold here; the fencing token protects the resource.
    F,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name, also that of its test.
    pub name: &'static str,
    /// The guarantee that must hold.
    pub class: Class,
    /// Rounds on every change.
    pub rounds: usize,
    pub(super) script: Script,
}

/// The script of a round. It panics where the row's own expectations are not met.
pub(super) type Run<S> = fn(&mut Round<'_, S>);

/// A script, and what its rounds have their locks on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Script {
    OneServer(fn() -> RedisServer, Run<RedisServer>),
    Cluster(fn() -> RedisCluster, Run<RedisCluster>),
    Sentinels(fn() -> RedisSentinels, Run<RedisSentinels>),
    Quorum(fn() -> RedisQuorum, Run<RedisQuorum>),
}

impl Row {
    /// A row on a server without special settings.
    pub const fn new(name: &'static str, class: Class, run: fn(&mut Round<'_>)) -> Self {
        Self::of(name, class, Script::OneServer(RedisServer::start, run))
    }

    /// A row on a cluster, which several rounds use one after the other.
    pub const fn in_cluster(
        name: &'static str,
        class: Class,
        start: fn() -> RedisCluster,
        run: fn(&mut Round<'_, RedisCluster>),
    ) -> Self {
        Self::of(name, class, Script::Cluster(start, run))
    }

    /// A row on a primary that sentinels watch.
    pub const fn watched(
        name: &'static str,
        class: Class,
        run: fn(&mut Round<'_, RedisSentinels>),
    ) -> Self {
        Self::of(name, class, Script::Sentinels(RedisSentinels::start, run))
    }

    /// A row on the nodes of a quorum.
    pub const fn of_quorum(
        name: &'static str,
        class: Class,
        start: fn() -> RedisQuorum,
        run: fn(&mut Round<'_, RedisQuorum>),
    ) -> Self {
        Self::of(name, class, Script::Quorum(start, run))
    }

    const fn of(name: &'static str, class: Class, script: Script) -> Self {
        Self {
            name,
            class,
            rounds: 10,
            script,
        }
    }

    /// The same row on a server of its own making.
    ///
    /// # Panics
    ///
    /// When the row is not on one server.
    pub const fn on(self, server: fn() -> RedisServer) -> Self {
        let Script::OneServer(_, run) = self.script else {
            panic!("the row is on one server")
        };
        let script = Script::OneServer(server, run);
        Self { script, ..self }
    }

    /// The same row, whose rounds take so long that every change has three of them.
    pub const fn long(self) -> Self {
        Self { rounds: 3, ..self }
    }
}

impl Script {
    /// How many rounds may be played side by side. Each cluster and each set of sentinels is six processes, which take
    /// CPU time also when they are idle. A quorum is three to five.
    pub(super) fn limit(&self) -> usize {
        match self {
            Self::OneServer(..) => usize::MAX,
            Self::Cluster(..) | Self::Sentinels(..) => 3,
            Self::Quorum(..) => 5,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::E => "E",
            Self::F => "F",
        })
    }
}
