//! Signals to child processes, by pid, without unsafe code.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::{env, fs};

use crate::wait::{PATIENCE, wait_until};

/// If set, the folder where a process that a test stops has a file, so that `lock-stalls` does not let it continue.
pub const MARKED_STOPS: &str = "LOCK_TEST_MARKED_STOPS";

/// Stops the process (SIGSTOP) and returns once it is stopped.
pub(crate) fn stop(child: &Child) {
    if let Some(mark) = mark(child) {
        fs::write(mark, "").expect("its folder exists");
    }
    signal("STOP", child);
    wait_until("stopped process", PATIENCE, || {
        state(child).is_none_or(|state| state == 'T')
    });
}

/// Continues a stopped process (SIGCONT).
pub(crate) fn cont(child: &Child) {
    signal("CONT", child);
    if let Some(mark) = mark(child) {
        // A process may be continued twice.
        fs::remove_file(mark).ok();
    }
}

fn mark(child: &Child) -> Option<PathBuf> {
    let folder = env::var_os(MARKED_STOPS)?;
    Some(PathBuf::from(folder).join(child.id().to_string()))
}

/// Terminates the process (SIGTERM).
pub(crate) fn terminate(child: &Child) {
    signal("TERM", child);
}

/// Kills the process (SIGKILL) and reaps it; succeeds if it has already ended.
pub(crate) fn kill9(child: &mut Child) {
    child.kill().expect("a child can be killed");
    child.wait().expect("a child can be reaped");
}

/// The shell's built-in `kill`, since slim images have no other.
fn signal(name: &str, child: &Child) {
    let status = Command::new("sh")
        .args(["-c", r#"kill -s "$0" "$1""#, name, &child.id().to_string()])
        .status()
        .expect("a shell is installed");
    assert!(status.success(), "SIG{name} could not be sent");
}

/// The state letter that Linux reports; none without a /proc.
fn state(child: &Child) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name before it is in brackets and may contain any character.
    stat.rsplit(')').next()?.trim_start().chars().next()
}
