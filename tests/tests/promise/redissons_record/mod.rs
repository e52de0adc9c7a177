//! Locks in Redisson's record: the differences from the native one. `conformance` has the rest.

mod commands;
mod holders;
mod options;
mod subscriptions;

use harness::{REDISSON_RIGHTS, RedisServer, ask, patient, server_and_connection};
use lock_runtime::{LockClient, LockRecord};
use redis::Connection;

/// The lock; its key has no prefix.
pub(crate) const KEY: &str = "order:42";
const CHANNEL: &str = "redisson_lock__channel:{order:42}";

/// An owner as Redisson names it.
const JAVA: &str = "3f2504e0-4f89-11d3-9a0c-0305e82c3301:47";

/// A server whose clients have the minimal permissions, and a connection with all permissions.
pub(crate) fn start() -> (RedisServer, Connection) {
    let (server, mut connection) = server_and_connection();
    let rule = ["ACL", "SETUSER", "default", "reset", "on", "nopass"];
    let words = [&rule, REDISSON_RIGHTS, &["~order:*"]].concat();
    let _: () = ask(&mut connection, &words);
    (server, connection)
}

pub(crate) fn client(server: &RedisServer) -> LockClient {
    client_at(server.url())
}

fn client_at(url: String) -> LockClient {
    let builder = patient(url).prefix("");
    let builder = builder.record(LockRecord::Redisson);
    builder.build().expect("the settings are valid")
}
