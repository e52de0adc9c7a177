//! The scripts of one node, as pure functions of its records and its clock.

use super::mistake::Mistake;
use super::records::{Count, Entry, Lock, Marker, Owner, Records, Ticks, Token};

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How long a claim lasts.
    pub claim: Ticks,
    /// How long a queue entry outlives its last heartbeat.
    pub live: Ticks,
    /// How long a node grants nothing after it lost data.
    pub delay: Ticks,
    /// How many tokens a tick has.
    pub unit: Token,
    /// Tokens that one grant owns.
    pub turns: Token,
    /// How far a guess or a stamp may be ahead of the clock.
    pub ahead: Token,
    /// How far the stamp of a new entry may be behind it.
    pub behind: Token,
    pub mistake: Option<Mistake>,
}

/// The token that a client proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proposal {
    /// From the client's clock. A node whose clock is far behind ignores it.
    Guess(Token),
    /// `=T`: the token of a node.
    Known(Token),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Command {
    /// Takes K if it is free or a claim of the owner, or queues.
    Acquire {
        ttl: Ticks,
        /// Whether the owner queues if K is taken.
        queues: bool,
        stamp: Token,
        proposal: Proposal,
    },
    /// Begins or continues the count of a node that may have lost data.
    Mark {
        new: u8,
        /// The count that the client knows, with the time that it has measured.
        known: Option<Count>,
    },
    /// Yields K to a waiter with an earlier stamp, and queues.
    Yield { token: Token, stamp: Token },
    /// Renews K, and writes it if it is absent.
    Hold { ttl: Ticks, token: Token },
    /// Raises the expiry of K.
    Renew { ttl: Ticks },
    /// Frees K if no owner queues.
    Release,
    /// Frees K or hands it off, and leaves the queue.
    End {
        /// A guess for the token of the next owner.
        proposal: Token,
    },
}

impl Command {
    /// Whether a lease may start from this command.
    pub(super) fn renews(self) -> bool {
        matches!(self, Command::Renew { .. } | Command::Hold { .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// The owner has K.
    Held { token: Token },
    /// The node does not vote yet, and grants nothing.
    Early {
        /// The rest of the restart delay.
        left: Ticks,
    },
    /// `mark`: the count in the marker; `None` if the node votes.
    Marked(Option<Count>),
    /// The owner does not have K, even if it asked for it.
    Waiting {
        holder: Option<Owner>,
        remaining: Ticks,
        /// The place in the queue from 1 on, or 0.
        position: u8,
    },
    /// `renew`: K is absent.
    Absent,
    /// `renew`, `hold` and `release`: K is another owner's.
    Anothers,
    /// `release` and `end`: K is free.
    Freed,
    /// `release`: an owner queues, and the script changed nothing.
    Contended,
    /// `end`: K is the claim of the next owner.
    HandedOff,
    /// `end`: the owner left the queue.
    Left,
    /// `end`: the owner neither had K nor queued.
    Nothing,
}

/// Runs `command` of `me`. Appends the owner that each published message names to `pushes`.
pub fn run(
    records: &mut Records,
    (now, boot): (Ticks, u8),
    rules: &Rules,
    (me, command): (Owner, Command),
    pushes: &mut Vec<Owner>,
) -> Answer {
    records.expire(now);
    let mut script = Script {
        records,
        now,
        boot,
        rules,
        me,
        pushes,
    };
    match command {
        Command::Acquire {
            ttl,
            queues,
            stamp,
            proposal,
        } => script.acquire(ttl, queues, stamp, proposal),
        Command::Mark { new, known } => script.mark(new, known),
        Command::Yield { token, stamp } => script.yielding(token, stamp),
        Command::Hold { ttl, token } => script.hold(ttl, token),
        Command::Renew { ttl } => script.renew(ttl),
        Command::Release => script.release(),
        Command::End { proposal } => script.end(proposal),
    }
}

struct Script<'a> {
    records: &'a mut Records,
    now: Ticks,
    boot: u8,
    rules: &'a Rules,
    me: Owner,
    pushes: &'a mut Vec<Owner>,
}

impl Script<'_> {
    fn acquire(&mut self, ttl: Ticks, queues: bool, stamp: Token, proposal: Proposal) -> Answer {
        if let Some(early) = self.early() {
            return early;
        }
        if let Some(lock) = self.mine() {
            let expires_at = lock.expires_at.max(self.now + ttl);
            let proposed = self.accepted(proposal);
            let token = if proposed > lock.token {
                self.raise_fence(proposed);
                proposed
            } else {
                lock.token
            };
            self.records.lock = Some(Lock {
                token,
                expires_at,
                ..lock
            });
            return Answer::Held { token };
        }
        // An entry keeps its first stamp. A new one that is far off becomes the time.
        let stamp = match self.place_of_me() {
            Some(entry) => entry.stamp,
            None if stamp < self.clock() - self.rules.behind => self.clock(),
            None => self.not_ahead(stamp),
        };
        if self.records.lock.is_none() {
            let first = self.records.queue.first().copied();
            match first.filter(|first| (first.stamp, first.owner) < (stamp, self.me)) {
                Some(first) => self.claim(first.owner, self.accepted(proposal)),
                None => {
                    let token = self.grant(self.me, ttl, self.accepted(proposal));
                    return Answer::Held { token };
                }
            }
        }
        if queues {
            let is_new = self.place_of_me().is_none();
            self.enqueue(stamp);
            let is_first = self.records.queue[0].owner == self.me;
            if let Some(lock) = &mut self.records.lock {
                lock.flagged = true;
                if is_new && is_first {
                    self.pushes.push(lock.owner);
                }
            }
        }
        self.waiting()
    }

    fn yielding(&mut self, token: Token, stamp: Token) -> Answer {
        if let Some(early) = self.early() {
            return early;
        }
        let Some(lock) = self.mine() else {
            return self.waiting();
        };
        let stamp = self.not_ahead(stamp);
        let is_named = lock.token == token || self.makes(Mistake::YieldWithoutToken);
        let first = self.records.queue.first().copied();
        let first = first.filter(|first| (first.stamp, first.owner) < (stamp, self.me));
        let Some(first) = first.filter(|_| is_named) else {
            return Answer::Held { token: lock.token };
        };
        self.enqueue(stamp);
        self.claim(first.owner, 0);
        self.waiting()
    }

    fn hold(&mut self, ttl: Ticks, token: Token) -> Answer {
        let expires_at = self.now + ttl;
        let lock = match self.records.lock {
            None => {
                self.leave();
                self.raise_fence(token);
                let flagged = !self.records.queue.is_empty();
                Lock {
                    owner: self.me,
                    token,
                    flagged,
                    expires_at,
                }
            }
            Some(lock) if lock.owner == self.me => Lock {
                expires_at: lock.expires_at.max(expires_at),
                ..lock
            },
            Some(_) => return Answer::Anothers,
        };
        self.records.lock = Some(lock);
        Answer::Held { token: lock.token }
    }

    fn renew(&mut self, ttl: Ticks) -> Answer {
        let Some(lock) = self.mine() else {
            return self.not_mine();
        };
        let expires_at = lock.expires_at.max(self.now + ttl);
        self.records.lock = Some(Lock { expires_at, ..lock });
        Answer::Held { token: lock.token }
    }

    fn release(&mut self) -> Answer {
        match self.mine() {
            None => self.not_mine(),
            Some(lock) if lock.flagged => Answer::Contended,
            Some(_) => {
                self.records.lock = None;
                Answer::Freed
            }
        }
    }

    fn end(&mut self, proposal: Token) -> Answer {
        let has_left = self.leave();
        if self.mine().is_none() {
            return if has_left {
                Answer::Left
            } else {
                Answer::Nothing
            };
        }
        self.records.lock = None;
        match self.records.queue.first().copied() {
            Some(first) if self.left() == 0 => {
                self.claim(first.owner, self.accepted(Proposal::Guess(proposal)));
                Answer::HandedOff
            }
            // A node that does not vote grants nothing.
            _ => Answer::Freed,
        }
    }

    fn mark(&mut self, new: u8, known: Option<Count>) -> Answer {
        let own_clock = self.makes(Mistake::DelayByOwnClock);
        if self.left() > 0 {
            let begun = self.marker().and_then(|marker| marker.count);
            let mut count = begun.unwrap_or(Count {
                name: new,
                // The mistake: the time at which the count began, by the node's own clock.
                waited: if own_clock { self.now } else { 0 },
            });
            let any = self.makes(Mistake::CountOfAnother);
            let known = known.filter(|known| any || known.name == count.name && begun.is_some());
            if let Some(known) = known.filter(|_| !own_clock) {
                count.waited = count.waited.max(known.waited);
            }
            self.records.marker = Some(Marker {
                boot: self.boot,
                count: Some(count),
            });
        }
        if self.left() == 0 {
            self.records.marker = Some(Marker {
                boot: self.boot,
                count: None,
            });
        }
        Answer::Marked(self.marker().and_then(|marker| marker.count))
    }

    /// M, unless it is from another boot.
    fn marker(&self) -> Option<Marker> {
        let marker = self.records.marker;
        marker.filter(|marker| marker.boot == self.boot)
    }

    /// The rest of the time without a vote. A node without a marker, or with one from another boot,
    /// may have lost data.
    fn left(&self) -> Ticks {
        let delay = self.rules.delay;
        if self.makes(Mistake::VotesAtOnce) {
            return 0;
        }
        match self.marker() {
            None => delay,
            Some(Marker { count: None, .. }) => 0,
            Some(Marker {
                count: Some(count), ..
            }) if self.makes(Mistake::DelayByOwnClock) => (count.waited + delay - self.now).max(0),
            Some(Marker {
                count: Some(count), ..
            }) => (delay - count.waited).max(0),
        }
    }

    /// The answer of a node that does not vote.
    fn early(&self) -> Option<Answer> {
        let left = self.left();
        (left > 0).then_some(Answer::Early { left })
    }

    /// A new token, above the last one, the clock and `proposed`.
    fn mint(&mut self, proposed: Token) -> Token {
        let above_the_last = self.records.fence + self.rules.turns;
        self.records.fence = above_the_last.max(self.clock()).max(proposed);
        self.records.fence
    }

    /// The least token of the present tick.
    fn clock(&self) -> Token {
        self.now * self.rules.unit
    }

    fn is_ahead(&self, token: Token) -> bool {
        token > self.clock() + self.rules.ahead
    }

    /// The stamp, or the time if it is far ahead of that.
    fn not_ahead(&self, stamp: Token) -> Token {
        if self.is_ahead(stamp) {
            self.clock()
        } else {
            stamp
        }
    }

    /// The proposed token, or 0 if it is a guess far ahead of the clock.
    fn accepted(&self, proposal: Proposal) -> Token {
        match proposal {
            Proposal::Guess(token) if self.is_ahead(token) => 0,
            Proposal::Guess(token) | Proposal::Known(token) => token,
        }
    }

    fn raise_fence(&mut self, token: Token) {
        if !self.makes(Mistake::FenceNotRaised) {
            self.records.fence = self.records.fence.max(token);
        }
    }

    /// Gives K to `owner`, which leaves the queue.
    fn grant(&mut self, owner: Owner, ttl: Ticks, proposed: Token) -> Token {
        self.records.queue.retain(|entry| entry.owner != owner);
        let token = self.mint(proposed);
        self.records.lock = Some(Lock {
            owner,
            token,
            flagged: !self.records.queue.is_empty(),
            expires_at: self.now + ttl,
        });
        token
    }

    /// Grants K to a waiter for the time of a claim, and notifies it.
    fn claim(&mut self, owner: Owner, proposed: Token) {
        self.grant(owner, self.rules.claim, proposed);
        self.pushes.push(owner);
    }

    /// Adds a queue entry, or its heartbeat.
    fn enqueue(&mut self, stamp: Token) {
        self.leave();
        self.records.queue.push(Entry {
            stamp,
            owner: self.me,
            live_until: self.now + self.rules.live,
        });
        self.records.queue.sort_unstable();
    }

    /// Leaves the queue. Returns whether there was an entry.
    fn leave(&mut self) -> bool {
        let place = self.records.place(self.me);
        place
            .map(|place| self.records.queue.remove(place))
            .is_some()
    }

    fn mine(&self) -> Option<Lock> {
        self.records.lock.filter(|lock| lock.owner == self.me)
    }

    fn place_of_me(&self) -> Option<Entry> {
        let place = self.records.place(self.me)?;
        Some(self.records.queue[place])
    }

    fn waiting(&self) -> Answer {
        let lock = self.records.lock;
        let place = self.records.place(self.me);
        Answer::Waiting {
            holder: lock.map(|lock| lock.owner),
            remaining: lock.map_or(0, |lock| lock.expires_at - self.now),
            position: place.map_or(0, |place| place as u8 + 1),
        }
    }

    fn not_mine(&self) -> Answer {
        match self.records.lock {
            None => Answer::Absent,
            Some(_) => Answer::Anothers,
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.rules.mistake == Some(mistake)
    }
}
