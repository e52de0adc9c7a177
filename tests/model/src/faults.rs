//! The faults, and how often each may happen in one exploration.

listed! {
    /// A fault, or another event whose number is bounded.
    Fault {
        /// A caller's wait is over, or its future is dropped.
        GiveUp,
        /// A call makes one attempt, without joining the waiters.
        Try,
        /// A process ends without a release.
        Crash,
        /// A message is lost: a command, an answer or an announcement.
        Lose,
        /// A command is carried out twice.
        Double,
        /// A command is not answered in time, on a connection that stays.
        Timeout,
        /// A connection breaks; its commands may still reach the server.
        Tear,
        /// A client gets no further announcements, and the server does not count it as a receiver.
        Unsubscribe,
        /// The server forgets its scripts.
        Flush,
        /// The server restarts, and kept its data.
        Restart,
        /// The server restarts with nothing.
        RestartEmpty,
        /// A program that does not know the protocol takes the free lock, with a ttl.
        ForeignTake,
        /// The same without a ttl.
        ForeignTakeForever,
        /// Another program deletes the lock.
        Delete,
        /// Another program deletes the second of several locks.
        DeleteBeside,
        /// An operator takes the lock from its holder, which learns of it only when it asks.
        Revoke,
        /// The fence is evicted, or expires.
        LoseFence,
        /// The queue is evicted.
        LoseQueue,
        /// A replica gets the present records of the server.
        Replicate,
        /// The replica takes over, without the changes that it missed.
        FailOver,
        /// The lock's slot is moved to another server, key by key.
        MoveSlot,
        /// Another server takes over with all records.
        TakeOver,
        /// The server's clock jumps ahead.
        ClockAhead,
        /// The server's clock jumps back.
        ClockBack,
        /// The server's clock falls behind the last token.
        ClockBehind,
        /// The server is impaired for a while.
        Impair,
        /// The client is shut down.
        Shutdown,
        /// R is evicted.
        LoseShares,
        /// A lease is renewed; a bound, not a fault.
        Renew,
        /// A lock becomes a share; a bound, not a fault.
        Downgrade,
        /// A body asks for a token; a bound, not a fault.
        Mint,
    }
}

const FAULTS: usize = Fault::ALL.len();

/// How often each fault may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget([u8; FAULTS]);

impl Budget {
    /// The given faults, and no others.
    pub fn of(faults: &[(Fault, u8)]) -> Budget {
        let mut budget = Budget::default();
        for &(fault, times) in faults {
            budget.0[fault as usize] = times;
        }
        budget
    }

    /// Whether `fault` may happen once more.
    pub fn allows(&self, fault: Fault) -> bool {
        self.0[fault as usize] > 0
    }

    /// Whether no fault is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.0.iter().all(|&times| times == 0)
    }

    pub(crate) fn spend(&mut self, fault: Fault) {
        self.0[fault as usize] -= 1;
    }
}
