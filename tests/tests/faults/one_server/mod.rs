//! One server and everything that can happen to it and on the way to it.
//!
//! Each file is a kind of fault. Exclusion must hold in all of them. Where a lease cannot hold (a
//! server that forgets), the loss must be reported and the tokens must still rise.

mod blocking;
mod connections;
mod crowd;
mod cuts;
mod releases;
mod restarts;
mod script_flushes;
mod several;
mod silence;

use harness::{
    KEY, LOCK, LONG, QUEUE, SLACK, ask, behind_a_proxy, client, cycle, hold, ms, nothing_is_left,
    served, soon,
};
use redis::Connection;

/// The number that the server's INFO gives under `name`.
fn figure(connection: &mut Connection, name: &str) -> u64 {
    let info: String = ask(connection, &["INFO", "everything"]);
    let value = info
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.expect("INFO has it").parse().expect("it is a number")
}
