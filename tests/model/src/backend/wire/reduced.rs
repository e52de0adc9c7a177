//! Makes states of the runtime's types equal that differ only in what no decision of the model reads.

use crate::backend::wire::outstanding::{ConnectionId, Outstanding};

impl Outstanding {
    /// Renames connections: an answer comes on the present one alone, so all that are gone are alike.
    ///
    /// Whether an end was answered is for the outcome that a release reports, which the model does not have. An owner that
    /// is ended sends no acquire, and reads the answer to none.
    pub(crate) fn reduce(&mut self, present: ConnectionId, is_ended: bool) {
        let renamed = |on| if on == present { PRESENT } else { GONE };
        self.unanswered = self.unanswered.map(renamed);
        (self.is_end_unanswered, self.is_end_unanswered_before) = (false, false);
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

const GONE: ConnectionId = ConnectionId(0);

/// The name of the present connection.
pub(crate) const PRESENT: ConnectionId = ConnectionId(1);
