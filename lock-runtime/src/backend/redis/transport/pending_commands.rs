//! The commands of a connection that wait for answers, in order.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use redis::Value;
use tokio::runtime::Id;

use crate::backend::redis::answer::AnswerSender;

/// A command, or several that were submitted together.
pub(super) struct PendingCommand {
    /// The position of its first byte among all bytes that were appended to the pipe.
    pub(super) start: u64,
    pub(super) sent_at: Instant,
    /// The runtime that sent the command, if its reader task must read the answer.
    pub(super) runtime: Option<Id>,
    pub(super) answer: AnswerSender,
}

/// Pending commands, the oldest first.
#[derive(Default)]
pub(super) struct PendingCommands(VecDeque<PendingCommand>);

impl PendingCommands {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, command: PendingCommand) {
        self.0.push_back(command);
    }

    /// Returns whether any command's answer is assigned to no reader task.
    pub(super) fn has_unassigned(&self) -> bool {
        self.0.iter().any(|command| command.runtime.is_none())
    }

    /// Returns how long the oldest command has been pending.
    pub(super) fn oldest_age(&self) -> Option<Duration> {
        self.0.front().map(|command| command.sent_at.elapsed())
    }

    /// Assigns an answer to the oldest command. Returns the command with its answer once that is complete.
    pub(super) fn complete(&mut self, value: Value) -> io::Result<Option<(PendingCommand, Value)>> {
        let Some(oldest) = self.0.front_mut() else {
            let surplus = "an answer came without a command";
            return Err(io::Error::new(io::ErrorKind::InvalidData, surplus));
        };
        if let AnswerSender::Many {
            missing, values, ..
        } = &mut oldest.answer
            && *missing > 1
        {
            *missing -= 1;
            values.push(value);
            return Ok(None);
        }
        Ok(self.0.pop_front().map(|command| (command, value)))
    }

    /// Removes all commands. None of them will be answered.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PendingCommand> {
        self.0.drain(..)
    }
}
