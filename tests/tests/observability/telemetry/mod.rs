//! The telemetry for operators: spans, events and metrics, by template, and by key only if a client asks for that.
//!
//! Each test locks under a template of its own. The recorders serve the whole process, since the background thread
//! reports much of the telemetry.

mod connections;
mod declared;
mod holds;
mod keys;
mod lock_order;
pub(crate) mod meter;
mod metrics;
mod nodes;
pub(crate) mod opentelemetry;
mod quorum;
mod revocation;
mod runs;
mod spans;
mod tokens;

use harness::{LONG, RedisServer, ask, eventually, ms};
use lock_runtime::{LockClient, LockError};

/// A client that waits for answers as long as a busy machine takes.
fn client(url: impl Into<String>) -> LockClient {
    let builder = harness::patient(url);
    builder.build().expect("the settings are valid")
}

fn server_and_client() -> (RedisServer, LockClient) {
    let server = RedisServer::start();
    let client = client(server.url());
    (server, client)
}

/// Deletes the lock of a key that is held.
fn delete(server: &RedisServer, key: &str) {
    let deleted: i64 = ask(&mut server.connection(), &["DEL", &format!("lock:{key}")]);
    assert_eq!(deleted, 1);
}
