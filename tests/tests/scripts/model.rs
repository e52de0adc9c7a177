//! The lock as a small Rust model, and what it expects each script to answer.
//!
//! It knows no time: leases end, hearts stop and keys vanish by commands of the test.

/// Owners that listen on their channel; all others are unreachable.
pub(crate) const LISTENING: &str = "ABCD";

/// Owners that do not.
pub(crate) const DEAF: &str = "EFGH";

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holder {
    Nobody,
    Foreign,
    Ours {
        who: char,
        flagged: bool,
        lease: i64,
    },
}

/// A waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) who: char,
    pub(crate) alive: bool,
}

/// What a script answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The lock is held; whether with a token that was minted just now.
    Held { flagged: bool, minted: bool },
    /// It is not, and this is the caller's place in the queue.
    Waiting(usize),
    /// One of the numbers, or renew's nil as none.
    Code(Option<i64>),
}

#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) holder: Holder,
    pub(crate) queue: Vec<Waiter>,
    /// Who was pushed to by the last command.
    pub(crate) pushed: Vec<char>,
    /// Whether the last command minted a token.
    pub(crate) minted: bool,
}

impl Model {
    pub(crate) fn new() -> Self {
        Self {
            holder: Holder::Nobody,
            queue: Vec::new(),
            pushed: Vec::new(),
            minted: false,
        }
    }

    pub(crate) fn acquire(&mut self, me: char, ttl: i64, queues: bool) -> Expected {
        if self.is_held_by(me) {
            return self.confirm(ttl);
        }
        if self.holder == Holder::Nobody {
            match self.choose(Some(me), None) {
                Some(head) if head != me => self.give(head, super::CLAIM),
                _ => {
                    self.give(me, ttl);
                    return self.held();
                }
            }
        }
        if queues {
            self.enqueue(me);
            if let Holder::Ours { flagged, .. } = &mut self.holder {
                *flagged = true;
            }
        }
        let place = self.queue.iter().position(|waiter| waiter.who == me);
        Expected::Waiting(place.map_or(0, |place| place + 1))
    }

    pub(crate) fn renew(&mut self, me: char, ttl: i64) -> Expected {
        if self.is_held_by(me) {
            self.confirm(ttl)
        } else {
            Expected::Code(None)
        }
    }

    pub(crate) fn release(&mut self, me: char) -> Expected {
        Expected::Code(Some(match self.holder {
            Holder::Nobody => 0,
            Holder::Ours {
                who, flagged: true, ..
            } if who == me => 2,
            Holder::Ours {
                who,
                flagged: false,
                ..
            } if who == me => {
                self.holder = Holder::Nobody;
                1
            }
            _ => -1,
        }))
    }

    pub(crate) fn end(&mut self, me: char, next: Option<(char, i64)>) -> Expected {
        if !self.is_held_by(me) {
            let left = self.leave(me);
            return match (next, &self.holder) {
                (Some((next, ttl)), _) if self.is_held_by(next) => self.confirm(ttl),
                _ if left => Expected::Code(Some(3)),
                (_, Holder::Nobody) => Expected::Code(Some(0)),
                _ => Expected::Code(Some(-1)),
            };
        }
        let head = self.choose(next.map(|(next, _)| next), Some(me));
        self.leave(me);
        match (head, next) {
            (head, Some((next, ttl))) if head.is_none_or(|head| head == next) => {
                self.give(next, ttl);
                self.held()
            }
            (Some(head), next) => {
                if let Some((next, _)) = next {
                    self.enqueue(next);
                }
                self.give(head, super::CLAIM);
                Expected::Code(Some(2))
            }
            (None, _) => {
                self.holder = Holder::Nobody;
                Expected::Code(Some(1))
            }
        }
    }

    fn is_held_by(&self, me: char) -> bool {
        matches!(self.holder, Holder::Ours { who, .. } if who == me)
    }

    /// Never shortens a lease.
    fn confirm(&mut self, ttl: i64) -> Expected {
        if let Holder::Ours { lease, .. } = &mut self.holder {
            *lease = ttl.max(*lease);
        }
        self.held()
    }

    fn held(&self) -> Expected {
        let Holder::Ours { flagged, .. } = self.holder else {
            panic!("{:?}", self.holder)
        };
        Expected::Held {
            flagged,
            minted: self.minted,
        }
    }

    /// Who is to be served; on the way, the dead leave the queue.
    fn choose(&mut self, me: Option<char>, ended: Option<char>) -> Option<char> {
        for waiter in self.queue.clone() {
            if Some(waiter.who) == me {
                return me;
            }
            if Some(waiter.who) == ended || !waiter.alive {
                self.leave(waiter.who);
            } else if LISTENING.contains(waiter.who) {
                self.pushed.push(waiter.who);
                return Some(waiter.who);
            }
        }
        None
    }

    fn give(&mut self, who: char, lease: i64) {
        self.leave(who);
        self.minted = true;
        self.holder = Holder::Ours {
            who,
            flagged: !self.queue.is_empty(),
            lease,
        };
    }

    fn enqueue(&mut self, who: char) {
        match self.queue.iter_mut().find(|waiter| waiter.who == who) {
            Some(waiter) => waiter.alive = true,
            None => self.queue.push(Waiter { who, alive: true }),
        }
    }

    fn leave(&mut self, who: char) -> bool {
        let before = self.queue.len();
        self.queue.retain(|waiter| waiter.who != who);
        self.queue.len() < before
    }
}
