//! Makes states of the runtime's types equal if they differ only in fields that no decision of the model reads.

use crate::backend::wire::outstanding::{ConnectionId, Outstanding};
use crate::backend::wire::settling::Settling;
use crate::background::moment::Moment;

impl Outstanding {
    /// Renames connections: an answer comes on the present one alone, so all that are gone are alike.
    ///
    /// Whether an end was answered is for the outcome that a release `reports`. An owner that is ended sends no acquire, and
    /// reads the answer to none.
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
    /// The same, if every end was answered.
    pub(crate) fn with_known_ends(&self) -> Outstanding {
        Outstanding {
            is_end_unanswered: false,
            is_end_unanswered_before: false,
            ..self.clone()
        }
    }

    /// The same without a late acquire.
    pub(crate) fn untainted(&self) -> Outstanding {
        Outstanding {
            is_tainted: false,
            ..self.clone()
        }
    }

    /// Once an owner has asked for a place in the queue, whether it holds decides nothing more.
    pub(crate) fn reduce_queued(&mut self) {
        if self.asked_to_queue {
            (self.may_hold, self.is_repeated, self.is_unclear) = (true, false, false);
        }
    }
}

impl Settling {
    /// Moves the moments that may be still to come.
    pub(crate) fn shift(&mut self, by: impl Fn(Moment) -> Moment) {
        (self.until, self.gone) = (by(self.until), by(self.gone));
    }

    /// Forgets what only the length of a pause depends on.
    pub(crate) fn reduce(&mut self) {
        self.unanswered = 0;
    }
}

const GONE: ConnectionId = ConnectionId(0);

/// The name of the present connection.
pub(crate) const PRESENT: ConnectionId = ConnectionId(1);
