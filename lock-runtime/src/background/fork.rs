//! Detects forked children, which have their parent's memory but only one of its threads.

use forkguard::Guard;

/// The process that made a value. A forked child has the value, too.
///
/// Two processes may have one id: process 1 of a container may fork a child that is process 1 of another one. So forks are
/// counted, which also takes no system call.
#[derive(Clone, Debug)]
pub(crate) struct Origin(Guard);

impl Origin {
    /// Returns the process that runs this.
    pub(crate) fn here() -> Origin {
        Origin(forkguard::new())
    }

    /// Returns whether this process is a fork of the one that made the value.
    pub(crate) fn is_forked(&self) -> bool {
        // A guard reports each fork once.
        self.0.clone().detected_fork()
    }
}
