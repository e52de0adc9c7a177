//! The scripts of one node of a quorum.

mod acquire;
mod choice;
mod end;
mod marker;
mod messages;
pub(crate) mod node;
mod proposal;
mod random;
mod yielding;

use std::time::Duration;

use harness::RedisServer;

use super::TTL;
use super::transcript::transcripts;

const SECOND: i64 = 1_000_000;
/// The restart delay, unless a test chooses another.
const DELAY: i64 = 60_000;
/// How far a clock that stands still may count on, and be back again: see `RedisServer::stop_clock`.
const COUNTED_ON_MS: i64 = 5;

fn forward(server: &RedisServer, ms: u64) {
    server.forward(Duration::from_millis(ms));
}
