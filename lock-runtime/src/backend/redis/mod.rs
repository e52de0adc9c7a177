//! Locks on Redis and Valkey. Only this folder knows the client library.
//!
//! Files, from the top: [`redis_wire`] has the protocol's commands, [`topology`] says which [`node`] has a lock, and
//! a node sends [`scripts`] on its [`shared_connection`]. Each [`connection`] is set up by [`connect`] and has one
//! [`transport`], which any thread writes to, and which a [`reader`] or a [`blocking`] thread reads.

mod addresses;
mod blocking;
mod codec;
mod command;
mod concurrency_limit;
mod connect;
mod connection;
mod deletion;
mod error_reply;
mod eviction_check;
mod hello;
mod node;
mod once_per_server;
mod pipe;
mod push;
mod reader;
mod reconnect_pause;
mod redis_wire;
mod scripts;
mod shared_connection;
mod slots;
mod socket;
mod tls;
mod topology;
mod transport;
mod url;

use std::time::Duration;

pub(crate) use blocking::block_on;
pub(crate) use redis_wire::RedisWire;
pub(crate) use url::Target;

use crate::background::clock::Clock;

/// The clock that leases on a server are measured by.
pub(crate) const CLOCK: Clock = Clock::Boot;

fn millis(ttl: Duration) -> i64 {
    i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)
}
