//! States in which a server refuses what locks need, and its own words about them.

use crate::acl::RIGHTS;
use crate::cluster::RedisCluster;
use crate::scene::{LOCK, ask};
use crate::server::RedisServer;
use crate::wait::{PATIENCE, wait_until};

/// A state in which a server refuses commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// The user may not run scripts.
    NoPermission,
    /// A script may not call one of its commands.
    NoPermissionInScript,
    WrongPassword,
    NoPassword,
    /// Memory is full.
    Full,
    /// The data cannot be written to disk.
    CannotSave,
    Loading,
    Replica,
    ClusterDown,
}

/// The servers in a state, and the URL of a user.
#[derive(Debug)]
pub struct Refusing {
    pub url: String,
    /// Killed on drop.
    _servers: (Vec<RedisServer>, Option<RedisCluster>),
}

impl ServerState {
    pub const ALL: [ServerState; 9] = [
        ServerState::NoPermission,
        ServerState::NoPermissionInScript,
        ServerState::WrongPassword,
        ServerState::NoPassword,
        ServerState::Full,
        ServerState::CannotSave,
        ServerState::Loading,
        ServerState::Replica,
        ServerState::ClusterDown,
    ];

    /// The server's own words about it: one of them is in each message. Redis 7.0 has other words about rights than
    /// Redis 8.0 and Valkey.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            ServerState::NoPermission => &[
                "NOPERM this user has no permissions to run the '",
                "NOPERM User app has no permissions to run the '",
            ],
            ServerState::NoPermissionInScript => &[
                "ERR The user executing the script can't run this command or subcommand",
                "ERR ACL failure in script: User app has no permissions to run the 'time' command",
            ],
            ServerState::WrongPassword => {
                &["WRONGPASS invalid username-password pair or user is disabled"]
            }
            ServerState::NoPassword => &["NOAUTH"],
            ServerState::Full => &["OOM command not allowed when used memory > 'maxmemory'"],
            ServerState::CannotSave => &[
                "MISCONF Redis is configured to save RDB snapshots",
                "MISCONF Valkey is configured to save RDB snapshots",
            ],
            ServerState::Loading => &[
                "LOADING Redis is loading the dataset in memory",
                "LOADING Valkey is loading the dataset in memory",
            ],
            // It is noticed before it can refuse a write (READONLY).
            ServerState::Replica => &["is a replica"],
            ServerState::ClusterDown => &["CLUSTERDOWN The cluster is down"],
        }
    }

    /// Brings a server into this state.
    pub fn begin(self) -> Refusing {
        if self == ServerState::ClusterDown {
            return cluster_down();
        }
        let mut server = RedisServer::builder()
            .config("loading-process-events-interval-bytes", "1024")
            // µs per key.
            .config("key-load-delay", "10000")
            .start();
        let connection = &mut server.connection();
        let less = |missing: &[&str]| {
            let rights = RIGHTS.iter().copied();
            let rights: Vec<&str> = rights.filter(|right| !missing.contains(right)).collect();
            server.user("app", "s3cret", &rights)
        };
        let mut servers = Vec::new();
        let url = match self {
            ServerState::NoPermission => less(&["+eval", "+evalsha"]),
            ServerState::NoPermissionInScript => less(&["+time"]),
            ServerState::WrongPassword => less(&[]).replace("s3cret", "guess"),
            ServerState::NoPassword => {
                server.config_set("requirepass", "s3cret");
                server.url()
            }
            ServerState::Full => {
                server.config_set("maxmemory", "1");
                less(&[])
            }
            ServerState::CannotSave => {
                let folder: Vec<String> = ask(connection, &["CONFIG", "GET", "dir"]);
                // A file cannot replace a folder.
                std::fs::create_dir_all(format!("{}/dump.rdb/in-the-way", folder[1]))
                    .expect("the folder can be written");
                server.config_set("save", "3600 1");
                let _: redis::RedisResult<redis::Value> = redis::cmd("BGSAVE").query(connection);
                wait_until("failed save", PATIENCE, || {
                    let info: String = ask(connection, &["INFO", "persistence"]);
                    info.contains("rdb_last_bgsave_status:err")
                });
                less(&[])
            }
            ServerState::Loading => {
                let fill = "for n = 1, 6000 do redis.call('SET', n, n) end";
                ask::<()>(connection, &["EVAL", fill, "0"]);
                ask::<()>(connection, &["SAVE"]);
                server.restart_loading();
                server.url()
            }
            ServerState::Replica => {
                let primary = RedisServer::start();
                let port = primary.port().to_string();
                ask::<()>(connection, &["REPLICAOF", "127.0.0.1", &port]);
                servers.push(primary);
                server.url()
            }
            ServerState::ClusterDown => unreachable!("it is no single server"),
        };
        servers.push(server);
        Refusing {
            url,
            _servers: (servers, None),
        }
    }
}

/// A cluster that lacks a slot refuses the locks of all others, too.
fn cluster_down() -> Refusing {
    let cluster = RedisCluster::with(3, 0);
    let owner = cluster.first_owner(LOCK);
    let missing = usize::from(cluster.slot(LOCK) == 0).to_string();
    for node in &cluster.nodes {
        // Only nodes that know an owner of the slot forget it.
        let mut forget = redis::cmd("CLUSTER");
        let forget = forget.arg("DELSLOTS").arg(&missing);
        let _: redis::RedisResult<redis::Value> = forget.query(&mut node.connection());
    }
    wait_until("cluster that is down", PATIENCE, || {
        let info: String = cluster.ask(owner, &["CLUSTER", "INFO"]);
        info.contains("cluster_state:fail")
    });
    Refusing {
        url: cluster.url(),
        _servers: (Vec::new(), Some(cluster)),
    }
}
