//! The Lua scripts, branch by branch: on the fake, which `differential` holds against a real server.
//!
//! If the model of the scripts knows an answer, the script's is compared with it: `random` has sequences, and `damage` one
//! matrix of states, commands and damages, on a real server. The rest, such as long queues, foreign values and extreme
//! numbers, are transcripts: tables with one step per line, which `transcript` plays.

mod acquire;
pub(crate) mod branch;
mod damage;
mod differential;
mod fence;
mod fence_retention;
mod grant;
mod keys;
mod queue;
mod quorum;
mod random;
mod redisson;
mod revoke;
mod shares;
#[allow(dead_code, reason = "the harness has the others")]
#[path = "../../../../lock-runtime/src/backend/redis/sources.rs"]
mod sources;
mod transcript;

use harness::RawLock;

const TTL: i64 = 60_000;
const CLAIM: i64 = 1_500;

/// The notice that operators send to holders.
const NOTICE: &str = "\u{1f}0192\u{1f}ann\u{1f}stuck\u{1f}";

/// Makes `key` a list.
fn spoil(lock: &mut RawLock, key: &str) {
    let _: i64 = lock.command(&["DEL", key]);
    let _: i64 = lock.command(&["LPUSH", key, "x"]);
}
