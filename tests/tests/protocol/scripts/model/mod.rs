//! The lock as a small Rust model: what each script answers and what it leaves behind, to the
//! millisecond, and which of its branches it takes.
//!
//! It knows the server's clock and nothing else of the world; [`Model::pass`] is how time goes by.

mod queue;
mod scripts;

use std::collections::BTreeSet;

use crate::branch::Branch;

/// Owners that listen on their channel; all others are unreachable.
pub(crate) const LISTENING: &str = "ABCD";

/// Owners that do not.
pub(crate) const DEAF: &str = "EFGH";

/// Milliseconds that a waiter has to confirm that it was served.
const CLAIM: i64 = 1_500;
/// µs for which a waiter counts as alive after its last poll.
const LIVE: i64 = 6_000_000;
/// Milliseconds that the queue outlives its last heartbeat by, and the fence its token.
const QUEUE: i64 = 7_000;
const FENCE: i64 = 86_400_000;
/// Tokens that one grant owns.
const TURNS: i64 = 16;

/// What is at the lock's key. Each `until` is the last millisecond of its life; none is for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holder {
    Nobody,
    Foreign {
        until: Option<i64>,
    },
    Ours {
        who: char,
        flagged: bool,
        token: i64,
        until: Option<i64>,
    },
    /// Something that is no string.
    Spoiled,
}

/// What is at the fence's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fence {
    Absent,
    Token {
        token: i64,
        until: i64,
    },
    /// A string that is no number.
    Unreadable,
    Spoiled,
}

/// What is at the queue's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Never empty.
    Waiters(Vec<Waiter>, i64),
    Absent,
    Spoiled,
}

/// A waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) who: char,
    /// The µs from which it counts as dead; none if its heartbeat is lost.
    pub(crate) live_until: Option<i64>,
}

/// What a script answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Flag and token: the lock is held.
    Held {
        flagged: bool,
        token: i64,
    },
    /// It is not; the ms that it is still held for (−1: for ever), and the caller's place.
    Waiting {
        remaining: i64,
        place: usize,
    },
    /// One of the numbers, or renew's nil as none.
    Code(Option<i64>),
    /// Errors.
    WrongType,
    BadFence,
}

#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// The server's clock in µs.
    pub(crate) now: i64,
    pub(crate) holder: Holder,
    pub(crate) fence: Fence,
    pub(crate) queue: Queue,
    /// Who was pushed to by the last command.
    pub(crate) pushed: Vec<char>,
    /// The branches that the last command took.
    pub(crate) taken: BTreeSet<Branch>,
}

impl Model {
    pub(crate) fn new(now: i64) -> Self {
        Self {
            now,
            holder: Holder::Nobody,
            fence: Fence::Absent,
            queue: Queue::Absent,
            pushed: Vec::new(),
            taken: BTreeSet::new(),
        }
    }

    /// The clock shows another time now.
    pub(crate) fn pass(&mut self, now: i64) {
        self.now = now;
        let ms = self.ms();
        if self.end_of_lease().is_some_and(|until| until < ms) {
            self.holder = Holder::Nobody;
        }
        if matches!(self.fence, Fence::Token { until, .. } if until < ms) {
            self.fence = Fence::Absent;
        }
        if matches!(self.queue, Queue::Waiters(_, until) if until < ms) {
            self.queue = Queue::Absent;
        }
    }

    fn ms(&self) -> i64 {
        self.now.div_euclid(1_000)
    }

    fn end_of_lease(&self) -> Option<i64> {
        match self.holder {
            Holder::Foreign { until } | Holder::Ours { until, .. } => until,
            Holder::Nobody | Holder::Spoiled => None,
        }
    }

    fn is_held_by(&self, me: char) -> bool {
        matches!(self.holder, Holder::Ours { who, .. } if who == me)
    }

    /// Never shortens a lease.
    fn confirm(&mut self, ttl: i64, longer: Branch, same: Branch) -> Expected {
        let raised = self.ms() + ttl;
        if let Holder::Ours { until, .. } = &mut self.holder {
            let raises = until.is_none_or(|until| until < raised);
            self.taken.insert(if raises { longer } else { same });
            if raises {
                *until = Some(raised);
            }
        }
        self.held()
    }

    fn held(&self) -> Expected {
        let Holder::Ours { flagged, token, .. } = self.holder else {
            panic!("{:?}", self.holder)
        };
        Expected::Held { flagged, token }
    }

    /// Whether the next token is the time.
    fn fence_is_behind(&self) -> bool {
        match self.fence {
            Fence::Token { token, .. } => token + TURNS <= self.now,
            _ => true,
        }
    }

    fn give(&mut self, who: char, lease: i64) {
        let last = match self.fence {
            Fence::Token { token, .. } => token,
            _ => 0,
        };
        let token = self.now.max(last + TURNS);
        self.taken.insert(if token == self.now {
            Branch::TokenIsTheTime
        } else {
            Branch::TokenCountsOn
        });
        self.fence = Fence::Token {
            token,
            until: token / 1_000 + FENCE,
        };
        self.leave(who);
        self.holder = Holder::Ours {
            who,
            flagged: !self.waiters().is_empty(),
            token,
            until: Some(self.ms() + lease),
        };
    }
}
