//! One connection to a node, from its setup to its end.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use redis::Value;

use super::encoder::Argument;
use super::sentinel::{Primary, Watch};
use super::shortcut::{Deletion, PlainCommand, Shortcut};
use super::transport::Transport;
use super::trial::{Trial, Trials};
use crate::backend::wire::outstanding::ConnectionId;
use crate::lease::owner_id::ClientId;

/// After this many unanswered commands in a row, a connection may be dead.
const MAX_UNANSWERED: u32 = 2;

/// A connection that is set up and subscribed.
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) transport: Arc<Transport>,
    /// The address of the server, in reports.
    pub(super) server: Arc<str>,
    /// The server's version, as it reports it.
    pub(super) version: Option<String>,
    /// The server's command for compare-and-delete, if it has one.
    deletion: Option<Deletion>,
    /// Whether the server has refused that command.
    refuses_deletion: AtomicBool,
    /// Which of the scripts have worked on this connection.
    pub(super) trials: Trials,
    /// The ids to whose channels the connection was subscribed during its setup.
    pub(super) subscribed: Vec<ClientId>,
    /// When the attempt to connect began.
    pub(super) began: Instant,
    /// Whether a command was answered without an error.
    is_useful: AtomicBool,
    /// Whether the server refuses commands because of its role.
    is_useless: AtomicBool,
    /// The number of unanswered commands in a row.
    unanswered: AtomicU32,
    /// The server that a sentinel named, and the number of that sentinel; `None` without sentinels.
    pub(super) named: Option<(Primary, usize)>,
    /// The boot id of the server, if that matters.
    boot: Option<String>,
    /// Whether the server has run the script that records runs. Shared with commands in flight.
    pub(super) has_recorded_runs: Arc<AtomicBool>,
    /// Watches for a failover. Ends with the connection.
    pub(super) watch: OnceLock<Watch>,
}

/// The reason that a command has no answer.
pub(super) enum SendError {
    /// The answer did not come in time.
    TimedOut,
    /// The connection broke before any byte of the command was written, so it may be sent again.
    Unsent,
    /// The connection broke, or its bytes were malformed.
    Broken(Arc<io::Error>),
}

impl Connection {
    pub(super) fn new(
        id: ConnectionId,
        transport: Arc<Transport>,
        server: Arc<str>,
        deletion: Option<Deletion>,
        subscribed: Vec<ClientId>,
        began: Instant,
    ) -> Connection {
        Connection {
            id,
            transport,
            server,
            version: None,
            deletion,
            subscribed,
            refuses_deletion: AtomicBool::new(false),
            trials: Trials::default(),
            began,
            is_useful: AtomicBool::new(false),
            is_useless: AtomicBool::new(false),
            unanswered: AtomicU32::new(0),
            named: None,
            boot: None,
            has_recorded_runs: Arc::default(),
            watch: OnceLock::new(),
        }
    }

    /// Notes that this sentinel named the server.
    pub(super) fn named_by_sentinel(mut self, primary: Primary, number: usize) -> Connection {
        self.named = Some((primary, number));
        self
    }

    /// Notes the version that the server reports.
    pub(super) fn of_version(mut self, version: Option<String>) -> Connection {
        self.version = version;
        self
    }

    /// Notes the boot id of a quorum's node.
    pub(super) fn of_boot(mut self, boot: Option<String>) -> Connection {
        self.boot = boot;
        self
    }

    /// Returns the boot id of the server, or `-`.
    pub(super) fn boot(&self) -> &str {
        self.boot.as_deref().unwrap_or("-")
    }

    /// Returns the arguments with the boot id filled in; `None` if they have no place for it.
    pub(super) fn with_boot<'a>(&'a self, arguments: &[Argument<'a>]) -> Option<Vec<Argument<'a>>> {
        let is_boot = |argument: &Argument<'_>| matches!(argument, Argument::Boot);
        let boot = arguments.iter().position(is_boot)?;
        let mut arguments = arguments.to_vec();
        arguments[boot] = Argument::Text(self.boot());
        Some(arguments)
    }

    /// Returns the plain command to try instead of a script, unless the server has none, or has refused it.
    pub(super) fn plain<'a>(&self, shortcut: Shortcut<'a>) -> Option<PlainCommand<'a>> {
        let refuses = self.refuses_deletion.load(Ordering::Relaxed);
        let deletion = self.deletion.filter(|_| !refuses);
        shortcut.command_with(deletion, self.trials.have_passed(Trial::Exclusive))
    }

    /// Notes that the server has refused to compare and delete.
    pub(super) fn note_refused_deletion(&self) {
        self.refuses_deletion.store(true, Ordering::Relaxed);
    }

    /// Returns whether a server with locks has answered a command without an error.
    pub(super) fn is_useful(&self) -> bool {
        self.is_useful.load(Ordering::Relaxed) && !self.is_useless.load(Ordering::Relaxed)
    }

    /// Notes that the server refuses commands because of its role: a replica, or another node than expected.
    pub(super) fn note_useless(&self) {
        self.is_useless.store(true, Ordering::Relaxed);
    }

    /// Notes that a command was answered.
    pub(super) fn note_answer(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// Notes that a command was not answered in time. Returns whether the connection is dead: several commands in a row
    /// were not answered, and no other was for as long as a command may take.
    ///
    /// A single command may have had little time left when it was sent, or the server may be busy with many commands.
    /// In both cases other commands are answered.
    pub(super) fn is_dead_after_timeout(&self, command_timeout: Duration) -> bool {
        let unanswered = self.unanswered.fetch_add(1, Ordering::Relaxed) + 1;
        unanswered >= MAX_UNANSWERED && self.transport.last_answer().elapsed() >= command_timeout
    }

    /// Notes that the connection is useful, unless all these answers are errors.
    pub(super) fn note_use(&self, answers: &[Value]) {
        let is_success = |answer: &Value| !matches!(answer, Value::ServerError(_));
        if answers.iter().any(is_success) {
            self.is_useful.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.transport.close("the connection is not used any more");
    }
}
