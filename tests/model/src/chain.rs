//! What a client knows of the commands of one owner, as `backend::chain` in the runtime has it.

/// Which commands of an owner are unanswered, and what that means for its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Chain {
    /// Unanswered on the present connection.
    here: bool,
    /// Unanswered on an earlier one.
    elsewhere: bool,
    /// It may hold the lock or queue.
    pub(crate) stands: bool,
    queued: bool,
    pub(crate) tainted: bool,
    /// Its end was sent.
    pub(crate) ended: bool,
}

impl Chain {
    /// A command that makes it hold or queue is sent.
    pub(crate) fn sending(&mut self, queue: bool) {
        self.stands = true;
        self.queued |= queue;
        self.here = true;
    }

    pub(crate) fn answered(&mut self) {
        self.here = false;
    }

    pub(crate) fn ending(&mut self) {
        self.tainted |= self.elsewhere;
        self.ended = true;
    }

    pub(crate) fn not_held(&mut self) {
        self.stands = self.queued || self.here || self.elsewhere;
    }

    pub(crate) fn torn(&mut self) {
        self.elsewhere |= std::mem::take(&mut self.here);
    }
}
