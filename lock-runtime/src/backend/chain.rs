//! What is known of the commands that one owner has sent.
//!
//! An acquire whose answer never came may still be on its way, and a torn connection's bytes can
//! arrive after those of the connection that replaced it. If the owner's `end` overtakes its
//! acquire like that, the acquire takes the lock for somebody who is gone. On one connection the
//! order is kept, so only an unanswered acquire on *another* connection than the `end`'s is
//! dangerous: the owner is then tainted, and its `end` must be repeated until nothing of it can
//! arrive any more.

/// Which of a client's successive connections; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incarnation(pub(crate) u64);

/// The commands of one owner that could still make it hold or queue.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// Connections on which such a command was sent and not answered.
    unanswered: Vec<Incarnation>,
    sent: bool,
    tainted: bool,
}

impl Chain {
    /// A command that makes the owner hold or queue is about to be sent.
    pub(crate) fn sending(&mut self, on: Incarnation) {
        self.sent = true;
        self.unanswered.push(on);
    }

    /// The last command sent on this connection was answered; a connection answers in order, so
    /// all before it have been carried out, too.
    pub(crate) fn answered(&mut self, on: Incarnation) {
        self.unanswered.retain(|&incarnation| incarnation != on);
    }

    /// The owner's `end` or `release` is about to be sent.
    pub(crate) fn ending(&mut self, on: Incarnation) {
        self.tainted |= self.unanswered.iter().any(|&incarnation| incarnation != on);
    }

    /// Whether anything was ever sent that could have made the owner hold or queue.
    pub(crate) fn was_sent(&self) -> bool {
        self.sent
    }

    pub(crate) fn is_tainted(&self) -> bool {
        self.tainted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Incarnation = Incarnation(1);
    const SECOND: Incarnation = Incarnation(2);

    #[test]
    fn order_on_one_connection_is_enough() {
        let mut chain = Chain::default();
        chain.sending(FIRST);
        chain.ending(FIRST);
        assert!(!chain.is_tainted());
    }

    #[test]
    fn an_answered_acquire_cannot_come_late() {
        let mut chain = Chain::default();
        chain.sending(FIRST);
        chain.answered(FIRST);
        chain.ending(SECOND);
        assert!(!chain.is_tainted());
    }

    #[test]
    fn an_acquire_unanswered_elsewhere_taints_for_good() {
        let mut chain = Chain::default();
        chain.sending(FIRST);
        chain.sending(SECOND);
        chain.answered(SECOND);
        chain.ending(SECOND);
        assert!(chain.is_tainted());
        chain.ending(FIRST);
        assert!(chain.is_tainted());
    }

    #[test]
    fn an_end_that_is_repeated_elsewhere_is_judged_anew() {
        let mut chain = Chain::default();
        chain.sending(FIRST);
        chain.ending(FIRST);
        chain.ending(SECOND);
        assert!(chain.is_tainted());
    }
}
