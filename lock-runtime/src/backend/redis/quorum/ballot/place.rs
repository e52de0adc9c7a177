//! An owner's state at one node.
//!
//! ```text
//!  UNKNOWN ── acquire: granted ────────────────► HELD      a vote, while its lease is fresh
//!          ── acquire: another owner has it ───► WAITING
//!  WAITING ── asks again after a message ──────► UNKNOWN   until the answer
//!          ── asks again when it looks or polls: as UNKNOWN
//!  HELD    ── acquire, to write a token back: as UNKNOWN
//!          ── yield, to an earlier owner ──────► YIELDING  no vote
//!  YIELDING ─ the node keeps it ───────────────► HELD
//!          ── given away ──────────────────────► WAITING
//!          ── no answer ───────────────────────► UNKNOWN   a grant with the token that it named does not count
//!  any     ── does not vote yet, refuses, no answer ─► UNKNOWN (HELD stays if an acquire is not answered)
//!          ── free, or about to be; its grant does not count; its command was not written ► ASK AGAIN, at once
//! ```

use std::sync::Arc;
use std::time::Duration;

use crate::backend::redis::quorum::ballot::node_command::{Command, HolderId};
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::{Outstanding, SendEvent};
use crate::backend::wire::reply::{EndReply, Waiting};
use crate::background::moment::Moment;
use crate::lease::record::Grant;

/// An owner's state at one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(in crate::backend::redis::quorum) standing: Standing,
    /// The command in flight.
    pub(in crate::backend::redis::quorum) sent: Option<Sent>,
    pub(in crate::backend::redis::quorum) message: Message,
    pub(in crate::backend::redis::quorum) waiters: Waiters,
    /// Tokens up to this one do not count, because an unanswered `yield` named it.
    pub(in crate::backend::redis::quorum) void: u64,
    /// Why the last command failed, unless another owner has the node.
    pub(in crate::backend::redis::quorum) failure: Option<Reason>,
    /// The owner's acquires and ends on this node.
    pub(crate) outstanding: Outstanding,
    pub(crate) clock: ClockState,
    pub(in crate::backend::redis::quorum) late: Late,
    pub(in crate::backend::redis::quorum) ended: Ended,
}

/// The state of the node's message since the last command to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::backend::redis::quorum) enum Message {
    #[default]
    None,
    /// The command in flight, or the next one, anticipates a message that has not come yet.
    Expected,
    /// That message has come, and no other. If the command gets the node, the message announced that.
    AsExpected,
    /// A message has come that needs a command in answer.
    News,
}

impl Message {
    fn come(self) -> Message {
        match self {
            Message::Expected => Message::AsExpected,
            Message::None | Message::AsExpected | Message::News => Message::News,
        }
    }
}

/// What the node's messages have said about other waiters since the owner was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::backend::redis::quorum) enum Waiters {
    #[default]
    Unknown,
    /// A message has come: a waiter queues, or did.
    Announced,
}

/// What this client knows of a node's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClockState {
    /// No vote waits to be judged: the clock is right, or it is off and the vote was dropped.
    #[default]
    Judged,
    /// Too few other clocks are known to judge it: the node's vote does not count yet.
    Unknown,
}

/// Something that happened at a node after the owner got the lock or ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::backend::redis::quorum) enum Late {
    #[default]
    Nothing,
    /// The owner has the lock, and will confirm this node, which it was granted later.
    Claim,
    /// The owner was ended, and an acquire was sent after the end.
    Revived,
}

/// The knowledge about the owner's end at a node.
#[derive(Clone, Debug, Default)]
pub(in crate::backend::redis::quorum) enum Ended {
    #[default]
    Unknown,
    /// The last end was answered like this.
    Answered(Result<EndReply, WireError>),
    /// The end found nothing, perhaps because an earlier end was carried out and its answer lost.
    Doubtful,
}

/// The last answer of the node.
#[derive(Clone, Debug, Default)]
pub(in crate::backend::redis::quorum) enum Standing {
    /// No answer, or none that still counts.
    #[default]
    Unknown,
    /// Like `Unknown`, and the node must be asked again: it was free, will be free soon, or its answer did not count.
    AskAgain,
    /// The owner has the node. The vote was requested at `at`.
    Held { grant: Grant, at: Moment },
    /// Another owner has the node.
    Waiting {
        holder: HolderId,
        waiting: Arc<Waiting>,
        view: View,
    },
}

/// How current the answer to a command is when the owner decides whether to yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::backend::redis::quorum) enum View {
    /// The command was sent while the owner had a node. An answer to a yield makes earlier answers stale. The answer to
    /// a command in flight is still fresh.
    Fresh,
    Stale,
}

/// A command in flight.
#[derive(Clone, Debug)]
pub(in crate::backend::redis::quorum) struct Sent {
    pub(in crate::backend::redis::quorum) command: Command,
    pub(in crate::backend::redis::quorum) at: Moment,
    /// The view that its answer will give.
    pub(in crate::backend::redis::quorum) view: View,
    pub(in crate::backend::redis::quorum) stage: Stage,
}

/// How far a command in flight has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend::redis::quorum) enum Stage {
    Unwritten,
    /// It was handed to a connection.
    Written,
}

impl Place {
    pub(super) fn send(&mut self, command: Command, view: View, now: Moment) {
        if self.is_notified() {
            self.message = Message::None;
            if self.holder().is_some() {
                // By now the node has another holder, probably this owner.
                self.standing = Standing::Unknown;
            }
        }
        if let Standing::AskAgain = self.standing {
            self.standing = Standing::Unknown;
        }
        self.sent = Some(Sent {
            command,
            at: now,
            view,
            stage: Stage::Unwritten,
        });
    }

    /// Prepares for the end of the node's owner, which another node's message suggests. A command that is sent now
    /// usually arrives after that end. If it arrives before, the answer is that the owner waits, and the node's own
    /// message triggers another command.
    pub(super) fn expect_end(&mut self) {
        // If this node's message has already arrived, the next one reports another event.
        if !self.is_notified() && self.holder().is_some() && self.may_repeat() {
            self.standing = Standing::AskAgain;
            self.message = Message::Expected;
        }
    }

    /// Returns whether a message came since the last command.
    pub(super) fn is_notified(&self) -> bool {
        matches!(self.message, Message::AsExpected | Message::News)
    }

    /// Notes that the owner was ended, but a command is about to be sent that may make it hold the node or queue there.
    pub(crate) fn revive(&mut self) {
        self.late = Late::Revived;
    }

    /// Returns whether the owner must be ended here once more, and leaves that to the caller.
    pub(crate) fn take_revived(&mut self) -> bool {
        let is_revived = self.late == Late::Revived;
        if is_revived {
            self.late = Late::Nothing;
        }
        is_revived
    }

    /// Notes that the answer to the command in flight gives the owner the node.
    pub(super) fn note_held(&mut self) {
        if self.message == Message::AsExpected {
            self.message = Message::None;
        }
    }

    /// Notes that no answer is pending any longer, so that the next message is news.
    pub(super) fn expect_nothing(&mut self) {
        self.message = match self.message {
            Message::None | Message::Expected => Message::None,
            Message::AsExpected | Message::News => Message::News,
        };
    }

    /// Notes the progress of the command in flight. Once a connection has it, it may be carried out.
    pub(crate) fn note(&mut self, event: SendEvent, ttl: Duration, queue: bool) {
        self.outstanding.note_acquire(event, ttl, queue);
        let stage = match event {
            SendEvent::Sending(_) => Stage::Written,
            SendEvent::Unsent(_) => Stage::Unwritten,
            SendEvent::Answered(_) | SendEvent::Refused(_) => return,
        };
        if let Some(sent) = &mut self.sent {
            sent.stage = stage;
        }
    }

    /// Forgets the command in flight if no connection has it. Returns `false` if it did: then nothing of it can arrive.
    pub(crate) fn forget_unwritten(&mut self) -> bool {
        let forgotten = self.sent.take_if(|sent| sent.stage == Stage::Unwritten);
        if forgotten.is_none() {
            return true;
        }
        self.expect_nothing();
        if let Standing::Unknown = self.standing {
            // A message of this or another node asked for the command, and will not come again.
            self.standing = Standing::AskAgain;
        }
        false
    }

    /// Returns the grant of this node, and when it was requested.
    pub(crate) fn held(&self) -> Option<(Grant, Moment)> {
        match self.standing {
            Standing::Held { grant, at } => Some((grant, at)),
            _ => None,
        }
    }

    /// Returns the other owner that has the node.
    pub(super) fn holder(&self) -> Option<HolderId> {
        match self.standing {
            Standing::Waiting { holder, .. } => Some(holder),
            _ => None,
        }
    }

    /// Returns whether the last answer named another owner, and no command has been sent since.
    pub(super) fn is_of_another(&self) -> bool {
        self.holder().is_some() && self.sent.is_none()
    }

    pub(super) fn waiting(&self) -> Option<&Waiting> {
        match &self.standing {
            Standing::Waiting { waiting, .. } => Some(waiting),
            _ => None,
        }
    }

    pub(super) fn is_yielding(&self) -> bool {
        let command = self.sent.as_ref().map(|sent| sent.command);
        matches!(command, Some(Command::Yield { .. }))
    }

    /// Returns whether a command may be sent now. After a failure, or while the node does not vote, the next attempt
    /// repeats it, after a pause.
    pub(super) fn may_repeat(&self) -> bool {
        self.sent.is_none() && self.failure.is_none()
    }

    /// Returns whether the node has not answered a command for longer than `patience`.
    pub(super) fn is_silent(&self, now: Moment, patience: Duration) -> bool {
        let sent = self.sent.as_ref();
        sent.is_some_and(|sent| now > sent.at + patience)
    }

    /// Returns when the node counts as silent if it does not answer.
    pub(super) fn silent_at(&self, patience: Duration) -> Option<Moment> {
        self.sent.as_ref().map(|sent| sent.at + patience)
    }

    pub(super) fn is_contended(&self) -> bool {
        self.waiters == Waiters::Announced
            || matches!(self.standing, Standing::Held { grant, .. } if grant.contended)
    }

    /// Notes a message of the node that names the owner.
    pub(super) fn note_message(&mut self) {
        self.message = self.message.come();
        self.waiters = Waiters::Announced;
    }
}

/// The reason that a node's vote does not count.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// The node may have lost data, and votes after this time.
    Early(Duration),
    /// The node has answered, but too few others have done so to judge its clock.
    ClockUnknown,
    Failed(String),
    /// The node would refuse the command again.
    Refused(String),
}

impl Reason {
    pub(crate) fn of(error: &WireError) -> Reason {
        match error {
            WireError::Refused(detail) => Reason::Refused(detail.to_string()),
            WireError::Unavailable(detail) => Reason::Failed(detail.to_string()),
        }
    }
}
