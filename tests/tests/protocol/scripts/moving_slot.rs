//! A node of a cluster, of which a slot is being moved to another node.

use std::fs;

use harness::{PATIENCE, RawLock, RedisServer, wait_until};
use tempfile::TempDir;

const TARGET: &str = "b000000000000000000000000000000000000000";

/// The nodes of a cluster: the server itself, with all slots, and one that cannot be reached.
const NODES: &str = "\
a000000000000000000000000000000000000000 127.0.0.1:0@0 myself,master - 0 0 1 connected 0-16383
b000000000000000000000000000000000000000 127.0.0.1:1@2 master - 0 0 2 connected
vars currentEpoch 2 lastVoteEpoch 0
";

pub(crate) struct MovingSlot {
    pub(crate) server: RedisServer,
    _folder: TempDir,
}

impl MovingSlot {
    /// A node that has all slots.
    pub(crate) fn new() -> MovingSlot {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let nodes = folder.path().join("nodes.conf");
        fs::write(&nodes, NODES).expect("the folder can be written");
        let server = RedisServer::builder()
            .own_clock()
            .config("cluster-enabled", "yes")
            .config("cluster-config-file", nodes.to_str().expect("it is text"))
            .start();
        let mut lock = RawLock::new(&server, "order:42");
        wait_until("a cluster", PATIENCE, || {
            let info: String = lock.command(&["CLUSTER", "INFO"]);
            info.contains("cluster_state:ok")
        });
        // No claim lapses, however slow the machine is.
        server.stop_clock();
        MovingSlot {
            server,
            _folder: folder,
        }
    }

    /// Begins to move the slot of these keys, all of which are there still.
    pub(crate) fn begin(&self, lock: &mut RawLock, keys: &[String]) {
        let mut exists = vec!["EXISTS"];
        exists.extend(keys.iter().map(String::as_str));
        let there: usize = lock.command(&exists);
        let all = keys.len();
        assert_eq!(
            there, all,
            "a script with a missing key does not run at all"
        );
        let slot = slot_of(lock);
        let _: () = lock.command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", TARGET]);
        let missing = redis::cmd("GET").arg(format!("{}:x", lock.f)).to_owned();
        let error = missing.query::<Option<String>>(&mut lock.connection);
        assert!(error.is_err(), "a missing key is asked for elsewhere");
    }

    /// Stops to move the slot, so that the records can be read.
    pub(crate) fn stop(&self, lock: &mut RawLock) {
        let slot = slot_of(lock);
        let _: () = lock.command(&["CLUSTER", "SETSLOT", &slot, "STABLE"]);
    }
}

fn slot_of(lock: &mut RawLock) -> String {
    let k = lock.k.clone();
    let slot: i64 = lock.command(&["CLUSTER", "KEYSLOT", &k]);
    slot.to_string()
}
