//! Makes states of the runtime's types equal if they differ only in fields that no decision of the model reads.

use crate::backend::wire::outstanding::{ConnectionId, Outstanding};
use crate::backend::wire::settling::Settling;
use crate::background::moment::Moment;

impl Outstanding {
    /// Renames connections: an answer comes only on the present one, so all closed connections are
    /// equal.
    ///
    /// Only a release that `reports` its outcome reads whether an end was answered. An owner that
    /// is ended sends no acquire, and ignores the answers to earlier ones.
    pub(crate) fn reduce(&mut self, present: ConnectionId, is_ended: bool, reports: bool) {
        let renamed = |on| if on == present { PRESENT } else { GONE };
        self.unanswered = self.unanswered.map(renamed);
        // The model has messages for owners that have ended.
        self.was_queued = false;
        if !reports {
            (self.is_end_unanswered, self.is_end_unanswered_before) = (false, false);
        }
        if !is_ended {
            return;
        }
        (self.is_repeated, self.is_unclear) = (false, false);
        (self.asked_to_queue, self.may_be_stored) = (true, true);
        if self.is_tainted {
            (self.unanswered, self.unanswered_before) = (None, false);
        }
    }
}

impl Outstanding {
    /// The same, as if every end was answered.
    pub(crate) fn with_known_ends(&self) -> Outstanding {
        Outstanding {
            is_end_unanswered: false,
            is_end_unanswered_before: false,
            ..self.clone()
        }
    }

    /// The same, as if no acquire could be late.
    pub(crate) fn untainted(&self) -> Outstanding {
        Outstanding {
            is_tainted: false,
            ..self.clone()
        }
    }

    /// Once an owner has asked for a place in the queue, nothing depends on whether it holds.
    pub(crate) fn reduce_queued(&mut self) {
        if self.asked_to_queue {
            (self.may_hold, self.is_repeated, self.is_unclear) = (true, false, false);
        }
    }
}

impl Settling {
    /// Moves the moments that may be in the future.
    pub(crate) fn shift(&mut self, by: impl Fn(Moment) -> Moment) {
        (self.until, self.gone) = (by(self.until), by(self.gone));
    }

    /// Forgets what only determines the length of a pause.
    pub(crate) fn reduce(&mut self) {
        self.unanswered = 0;
    }
}

const GONE: ConnectionId = ConnectionId(0);

/// The name of the present connection.
pub(crate) const PRESENT: ConnectionId = ConnectionId(1);
