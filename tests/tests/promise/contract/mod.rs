//! The promises of the crate that need neither every backend nor a process of their own, line by line, each against a
//! real server.
//!
//! The tests are named after the lines of the contract in the crate's documentation; `tests/PROMISES.md` has the homes of the
//! other lines. If a promise is about a failing server, the failure is real: the server is frozen or killed, or a proxy
//! holds the bytes back.

mod line_01_body_needs_the_lock;
mod line_02_ok_means_held;
mod line_04_only_the_owner_releases;
mod line_08_kinds;
mod line_09_wait;

use harness::{KEY, LOCK, LONG, SLACK, ask, client, hold, ms, soon};
