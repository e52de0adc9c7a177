//! What a process knows about itself.

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

/// Seconds since 1970, as this process sees them.
#[expect(
    clippy::disallowed_methods,
    reason = "it is asked whether a test could set it"
)]
pub(crate) fn wall_clock() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

/// Those of TCP, as Linux lists them; 0 where there is no /proc. A runtime that was built with
/// support for signals, which another package of the build may ask for, has some of its own.
fn sockets() -> usize {
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else {
        return 0;
    };
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(fs::read_to_string);
    let tables = tables.map(Result::unwrap_or_default);
    let lines = tables.iter().flat_map(|table| table.lines());
    let inodes: HashSet<&str> = lines
        .filter_map(|line| line.split_whitespace().nth(9))
        .collect();
    let is_tcp = |target: &Path| {
        let target = target.to_string_lossy();
        let inode = target.strip_prefix("socket:[");
        inode.is_some_and(|inode| inodes.contains(inode.trim_end_matches(']')))
    };
    descriptors
        .filter_map(|descriptor| fs::read_link(descriptor.ok()?.path()).ok())
        .filter(|target| is_tcp(target))
        .count()
}
