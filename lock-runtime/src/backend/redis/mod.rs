//! Locks on Redis and Valkey. Only this folder knows the client library.
//!
//! From the top: [`redis_wire`] has the protocol's commands, [`topology`] selects the [`node`] of a lock, and the node
//! sends [`scripts`] on its [`shared_connection`]. [`connect`] sets up each [`connection`], to a server from the
//! [`url`], a [`cluster`] or a [`sentinel`]. A connection has one [`transport`]: a socket that all threads write to,
//! and that any waiting thread reads from.

mod address;
mod addresses;
mod audit_stream;
mod cluster;
mod concurrency_limit;
mod connect;
mod connection;
mod decoder;
mod encoder;
mod error_reply;
mod eviction_check;
mod fence_retention;
mod hello;
mod locator;
mod login;
mod mint;
mod node;
mod once_per_server;
mod open_socket;
mod outage;
mod pipe;
mod quorum;
mod reconnect_pause;
mod records;
mod redirect;
mod redis_inspection;
mod redis_wire;
mod redisson;
mod renewals;
mod replication;
mod revoke_script;
mod run_stream;
mod scripts;
mod sentinel;
mod server_clock;
mod shared_connection;
mod shortcut;
mod side_by_side;
mod socket;
mod sources;
mod tls;
mod topology;
mod transport;
mod trial;
mod url;

pub(crate) use quorum::QuorumWire;
pub(crate) use redis_wire::RedisWire;
pub(crate) use redisson::Subscription;
pub(crate) use run_stream::{NotWritten, OnNotWritten};
pub(crate) use transport::block_on;
#[cfg(feature = "redis")]
pub(crate) use url::RedisClient;
#[cfg(feature = "redis")]
pub use url::RedisSettings;
pub(crate) use url::{Parts, QuorumTarget, Target, restart_delay_of, trim};

use crate::background::clock::Clock;

/// The clock that measures leases on a server.
pub(crate) const CLOCK: Clock = Clock::Boot;
