//! The exit codes, and the failures that lead to them.

use std::fmt;
use std::io;
use std::process::ExitCode;

use lock_runtime::{LockError, LockErrorKind};

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(u8);

impl Exit {
    /// Done, or healthy.
    pub(crate) const DONE: Exit = Exit(0);
    /// A negative answer: the lock is free, or a check failed.
    pub(crate) const NEGATIVE: Exit = Exit(1);
    /// The arguments make no sense.
    pub(crate) const USAGE: Exit = Exit(2);
    /// The server cannot be reached, or does not answer.
    pub(crate) const UNREACHABLE: Exit = Exit(3);
    /// The server refuses.
    pub(crate) const REFUSED: Exit = Exit(4);
    /// The lock has changed in the meantime, or is busy.
    pub(crate) const CHANGED: Exit = Exit(5);
    /// `run` only: the lock is busy, and the command was not started. `EX_TEMPFAIL` of `sysexits.h`: retry later.
    pub(crate) const NOT_RUN: Exit = Exit(75);
    /// `run` only: the lock was lost, and the command was ended.
    pub(crate) const LOST: Exit = Exit(76);
    /// `run` only: the command cannot be started. The code of a shell.
    pub(crate) const NOT_EXECUTABLE: Exit = Exit(126);
    /// `run` only: there is no such command. The code of a shell.
    pub(crate) const NOT_FOUND: Exit = Exit(127);

    /// The code of a command that was run.
    pub(crate) fn of_child(code: u8) -> Exit {
        Exit(code)
    }

    /// The code for an error of the lock.
    fn of(kind: LockErrorKind) -> Exit {
        match kind {
            LockErrorKind::Busy | LockErrorKind::Lost | LockErrorKind::Reentered => Exit::CHANGED,
            LockErrorKind::Rejected => Exit::REFUSED,
            LockErrorKind::InvalidKey | LockErrorKind::InvalidOptions => Exit::USAGE,
            _ => Exit::UNREACHABLE,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.0)
    }
}

/// Why the program cannot go on.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        Failure::new(Exit::of(error.kind()), error.to_string())
    }
}

/// An operation of this machine failed, such as writing the output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            // The reader has seen enough, as `head` has: like SIGPIPE.
            io::ErrorKind::BrokenPipe => Failure::new(Exit::of_child(141), ""),
            _ => Failure::new(Exit::NEGATIVE, error.to_string()),
        }
    }
}
