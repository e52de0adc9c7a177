//! What a process still has in use.

use std::fs;

use tokio::runtime::Handle;

/// `idle TASKS SOCKETS`: the tasks of the worker's own runtime and the sockets of the process.
pub(crate) fn figures() -> String {
    let tasks = Handle::current().metrics().num_alive_tasks();
    format!("idle {tasks} {}", sockets())
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
