//! The Lua scripts against a real server, branch by branch.
//!
//! Most of it are transcripts, tables with a step a line, which `transcript` plays. `damage` has one matrix of states,
//! commands and damages; `random` has sequences beside a model.

mod acquire;
pub(crate) mod branch;
mod damage;
mod end;
mod fence;
mod fence_retention;
mod grant;
mod keys;
mod mint;
mod queue;
mod quorum;
mod random;
mod redisson;
mod reserve;
mod revoke;
mod shares;
mod transcript;

use harness::RawLock;

const TTL: i64 = 60_000;
const CLAIM: i64 = 1_500;

/// What operators have holders told.
const NOTICE: &str = "\u{1f}0192\u{1f}ann\u{1f}stuck\u{1f}";

/// Makes `key` a list.
fn spoil(lock: &mut RawLock, key: &str) {
    let _: i64 = lock.command(&["DEL", key]);
    let _: i64 = lock.command(&["LPUSH", key, "x"]);
}
