//! The resources that a process uses.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::runtime::Handle;

/// `idle TASKS SOCKETS`: the tasks of the worker's own runtime and of the client's background, and
/// the sockets of the process.
pub(crate) fn figures() -> String {
    let own = Handle::current().metrics().num_alive_tasks();
    let tasks = own + lock_runtime::__private::inspect::background_tasks();
    format!("idle {tasks} {}", sockets())
}

/// Seconds since 1970, by this process's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "it is asked whether a test could set it"
)]
pub(crate) fn wall_clock() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

/// The number of sockets, without unix sockets; 0 if there is no /proc. A runtime with support for
/// signals has its own unix sockets, and another package of the build may enable that feature. The
/// kernel's list of unix sockets is short, while its list of TCP sockets walks a whole table, which
/// takes CPU time.
fn sockets() -> usize {
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else {
        return 0;
    };
    let list = fs::read_to_string("/proc/self/net/unix").unwrap_or_default();
    let unix: HashSet<&str> = list
        .lines()
        .filter_map(|line| line.split_whitespace().nth(6))
        .collect();
    let is_counted = |target: &Path| {
        let target = target.to_string_lossy();
        let inode = target.strip_prefix("socket:[");
        inode.is_some_and(|inode| !unix.contains(inode.trim_end_matches(']')))
    };
    descriptors
        .filter_map(|descriptor| fs::read_link(descriptor.ok()?.path()).ok())
        .filter(|target| is_counted(target))
        .count()
}
