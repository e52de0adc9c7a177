//! What a process knows about itself.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::runtime::Handle;

/// `idle TASKS SOCKETS`: the tasks of the worker's own runtime and of the client's background, and
/// the sockets of the process.
pub(crate) fn figures() -> String {
    let own = Handle::current().metrics().num_alive_tasks();
    let tasks = own + lock_runtime::__background_tasks();
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

/// As Linux lists them; 0 where there is no /proc.
fn sockets() -> usize {
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else {
        return 0;
    };
    descriptors
        .filter_map(|descriptor| fs::read_link(descriptor.ok()?.path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}
