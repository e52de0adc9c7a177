//! What a client knows of the commands of one owner, as `backend::outstanding` in the runtime has it.

/// Which commands of an owner are unanswered, and what that means for its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Outstanding {
    /// Unanswered on the present connection.
    unanswered: bool,
    /// Unanswered on an earlier one.
    unanswered_before: bool,
    /// It may hold the lock or queue.
    pub(crate) may_be_stored: bool,
    asked_to_queue: bool,
    pub(crate) is_tainted: bool,
    /// Its end was sent.
    pub(crate) is_ended: bool,
}

impl Outstanding {
    /// A command that makes it hold or queue is sent.
    pub(crate) fn sending(&mut self, queue: bool) {
        self.may_be_stored = true;
        self.asked_to_queue |= queue;
        self.unanswered = true;
    }

    pub(crate) fn answered(&mut self) {
        self.unanswered = false;
    }

    pub(crate) fn ending(&mut self) {
        self.is_tainted |= self.unanswered_before;
        self.is_ended = true;
    }

    pub(crate) fn note_not_held(&mut self) {
        self.may_be_stored = self.asked_to_queue || self.unanswered || self.unanswered_before;
    }

    pub(crate) fn note_teardown(&mut self) {
        self.unanswered_before |= std::mem::take(&mut self.unanswered);
    }
}
