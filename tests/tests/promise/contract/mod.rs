//! The promises of the crate, line by line, each against a real server.
//!
//! The tests are named after the lines of the contract in the crate's documentation. Where a promise is
//! about a failing server, the failure is real: the server is frozen or restarted, or a proxy holds the
//! bytes back.

mod line_01_body_needs_the_lock;
mod line_02_ok_means_held;
mod line_03_holder_gives_up_first;
mod line_04_only_the_owner_releases;
mod line_05_crashed_holder;
mod line_06_renewal;
mod line_07_tokens;
mod line_08_kinds;
mod line_09_wait;
mod line_10_dropping;
mod line_11_keys;
mod line_12_fencing;

use harness::{KEY, LOCK, LONG, Proxy, QUEUE, RedisServer, SLACK, ask, client, hold, ms, soon};
use lock_runtime::LockClient;

/// A server, a proxy in front of it, a client behind the proxy.
fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = client(proxy.url());
    (server, proxy, client)
}
