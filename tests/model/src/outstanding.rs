//! The commands of one owner whose effects are not known, as in the runtime's `wire::outstanding`.

/// The commands of one owner that could still make it hold or queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Outstanding {
    /// A command on the present connection is unanswered.
    unanswered: bool,
    /// A command on an earlier connection is unanswered, and never will be answered.
    unanswered_before: bool,
    /// The owner may hold the lock or queue.
    pub(crate) may_be_stored: bool,
    asked_to_queue: bool,
    pub(crate) is_tainted: bool,
    /// The owner's `end` or `release` was sent.
    pub(crate) is_ended: bool,
}

impl Outstanding {
    /// A command that may make the owner hold or queue is about to be sent.
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
