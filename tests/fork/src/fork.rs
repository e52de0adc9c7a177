//! The only unsafe code in this workspace.

use std::io;

/// The outcome of the child.
#[derive(Debug)]
pub(crate) enum Forked {
    Child,
    Parent { child: libc::pid_t },
}

/// A child that hangs is killed after this many seconds, since its parent may be gone by then.
const LONGEST: libc::c_uint = 60;

/// Copies this process. Only the calling thread exists in the copy.
#[expect(unsafe_code, reason = "there is no safe `fork`")]
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: it takes no arguments. `fork` is dangerous because other threads may hold locks at
    // that moment, which this program tests; libc takes care of the allocator's locks.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: it takes a number and cannot fail.
            unsafe { libc::alarm(LONGEST) };
            Ok(Forked::Child)
        }
        child => Ok(Forked::Parent { child }),
    }
}

/// Puts the next children into a namespace of processes of their own, the first as process 1.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe `unshare`")]
pub(crate) fn open_namespace() -> io::Result<()> {
    // SAFETY: it takes a number, and changes nothing of this process.
    match unsafe { libc::unshare(libc::CLONE_NEWPID) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits until `child` has ended, and returns whether it exited with success.
#[expect(
    unsafe_code,
    reason = "there is no safe `waitpid`, and the standard one needs a `Child`"
)]
pub(crate) fn ended_well(child: libc::pid_t) -> io::Result<bool> {
    let mut status = 0;
    // SAFETY: `status` is a place to write to for as long as the call takes.
    if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
        Ok(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0)
    } else {
        Err(io::Error::last_os_error())
    }
}
