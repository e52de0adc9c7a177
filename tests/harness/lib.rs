//! Servers, proxies and worker processes for the tests.
//!
//! Everything here is real: a `redis-server` on a loopback port, sockets, processes that can be stopped and killed. The
//! harness blocks and needs no runtime, so a test may stall, pause or drop its own runtime. Parts that an async test
//! must await are documented as such.

#![allow(
    missing_docs,
    reason = "its items are for tests alone, and documented where their names do not say all"
)]

mod acl;
mod clock;
mod cluster;
mod expiry;
mod form;
mod history;
mod keys;
mod monitor;
mod port;
mod process;
mod proxy;
mod quorum;
mod raw;
mod refusal;
pub mod rounds;
pub mod rows;
mod scene;
mod script_server;
mod scripted;
mod seed;
mod sentinels;
mod server;
mod server_state;
mod shares;
#[allow(dead_code, reason = "some scripts are only tested elsewhere")]
#[path = "../../lock-runtime/src/backend/redis/sources.rs"]
mod sources;
mod stalls;
mod tls;
mod urls;
mod users;
mod wait;
mod worker;

pub use acl::{
    CLUSTER_RIGHTS, OPERATOR_RIGHTS, QUORUM_RIGHTS, QUORUM_VIEWER_RIGHTS, REDISSON_OPERATOR_RIGHTS,
    REDISSON_RIGHTS, REDISSON_VIEWER_RIGHTS, REPLICA_RIGHTS, RIGHTS, SENTINEL_RIGHTS,
    VIEWER_RIGHTS,
};
pub use clock::Clock;
pub use cluster::{NODE_TIMEOUT, RedisCluster};
pub use form::Form;
pub use history::{Entry, History, Written};
pub use keys::RawLocks;
pub use monitor::{Command, Monitor};
pub use process::MARKED_STOPS;
pub use proxy::{Mode, Proxy};
pub use quorum::{RedisQuorum, boot, host_of, marker_name, quorum_url};
pub use raw::{
    ACQUIRE, Answer, Counted, Listener, RELEASE, RawLock, deletion, entry, owner, release_command,
};
pub use refusal::code_of;
pub use scene::{
    ANSWER, FENCE, KEY, LOCK, LONG, OPERATION, QUEUE, SHARES, SLACK, all_entries, all_locks, ask,
    behind_a_proxy, bring_scripts, client, client_without_turns, cycle, exists, failed, figure,
    hasty, hold, hold_fenced, in_line, is_awaited, is_free, is_taken_and_ended, keys_of, ms,
    nothing_is_left, owner_on, patient, revocation, revoke, sees_waiters, served,
    server_and_client, server_and_connection, server_and_proxy, soon, token_of,
};
pub use script_server::ScriptServer;
pub use scripted::{Says, ScriptedServer, bulk};
pub use seed::seed;
pub use sentinels::{DOWN_AFTER, RedisSentinels, sentinel_of, sentinel_url, tls_sentinel_of};
pub use server::{Builder, RedisServer};
pub use server_state::{Refusing, ServerState};
pub use shares::{READ, SHARE_ACQUIRE, SHARE_END, Share};
pub use stalls::ran_since;
pub use tls::{Authority, Flaw, Identity, TlsServer, Validity, listen, write_file};
pub use urls::{shows_secret, urls_with_secrets};
pub use users::{Rights, Users};
pub use wait::{PATIENCE, eventually, wait_until};
pub use worker::{Kind, Version, Worker, serve};

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
