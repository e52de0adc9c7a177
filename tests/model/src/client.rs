//! What one client knows, as the parts of the runtime below the keeper know it: `wait` (line,
//! contender), `roster` and `watchdog` (holds), `reaper` (ends).

use crate::network::Connection;
use crate::outstanding::Outstanding;
use crate::server::{Ticks, Token};

/// A process with one client in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Client {
    pub(crate) alive: bool,
    /// The server counts it as a receiver of announcements.
    pub(crate) subscribed: bool,
    /// Calls that have not begun.
    pub(crate) calls_left: u8,
    /// Somebody heads the line.
    pub(crate) has_head: bool,
    /// The ttls of those who wait behind.
    pub(crate) local_queue: Vec<Ticks>,
    /// The next owner's number.
    pub(crate) next_number: u8,
    pub(crate) owners: Vec<Owner>,
    pub(crate) connection: Connection,
}

/// An owner that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner {
    pub(crate) number: u8,
    /// The ttl of the caller that has it now.
    pub(crate) ttl: Ticks,
    /// It heads the line, and owes the next one its turn.
    pub(crate) heads_queue: bool,
    /// A command of its chain is under way.
    pub(crate) awaits_reply: bool,
    pub(crate) outstanding: Outstanding,
    pub(crate) phase: Phase,
}

/// How far an owner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Phase {
    Competing {
        /// One attempt, and no place in the queue.
        once: bool,
        /// It was told that another holds the lock.
        contended: bool,
    },
    /// Named in an end that is not answered yet.
    Named,
    Held(Lease),
    Ending {
        step: EndStep,
        /// How long anything of it can last.
        left: Ticks,
        unanswered: bool,
        /// The last end was sent when nothing of it could arrive any more.
        late: bool,
    },
}

/// A lock that was had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Lease {
    pub(crate) token: Token,
    /// How long its holder relies on it, by the holder's clock.
    pub(crate) deadline: Ticks,
    pub(crate) body: Body,
    pub(crate) lost: bool,
    pub(crate) contended: bool,
    /// A renewal is under way.
    pub(crate) renewing: bool,
    /// How often it was passed on since the grant.
    pub(crate) turn: u8,
    /// How long ago the grant was; kept up to where it matters.
    pub(crate) since: Ticks,
    /// For how long the lease is still retained; zero unless it is.
    pub(crate) retained: Ticks,
    /// The connection broke since the grant; kept where it matters.
    pub(crate) torn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Body {
    /// The lock is had and not handed over.
    Outside,
    Inside,
    /// It is over, and the lease is retained for the next caller.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum EndStep {
    Release,
    End,
    /// End, with the next owner named.
    HandOff(u8),
    /// Ended once; again for as long as it may be needed.
    Settle,
}

/// What the head of a line leaves to the next one.
pub(crate) enum Handoff {
    Fresh,
    Queued(Owner),
    /// Granted for the episode's ttl, with flag and token, so long ago.
    Granted(Owner, Token, bool, Ticks),
}

impl Owner {
    pub(crate) fn new(number: u8, ttl: Ticks, heads_queue: bool, phase: Phase) -> Owner {
        Owner {
            number,
            ttl,
            heads_queue,
            awaits_reply: false,
            outstanding: Outstanding::default(),
            phase,
        }
    }

    pub(crate) fn lease(&self) -> Option<&Lease> {
        match &self.phase {
            Phase::Held(lease) => Some(lease),
            _ => None,
        }
    }
}

impl Lease {
    /// Whether its holder may go on.
    pub(crate) fn is_valid(&self) -> bool {
        !self.lost && self.deadline > 0
    }
}

impl Client {
    pub(crate) fn new(calls: u8) -> Client {
        Client {
            alive: true,
            subscribed: true,
            calls_left: calls,
            ..Client::default()
        }
    }

    pub(crate) fn find(&self, number: u8) -> Option<usize> {
        self.owners.iter().position(|owner| owner.number == number)
    }

    pub(crate) fn leases(&self) -> impl Iterator<Item = (u8, &Lease)> {
        self.owners
            .iter()
            .filter_map(|owner| Some((owner.number, owner.lease()?)))
    }

    pub(crate) fn new_number(&mut self) -> u8 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// Whether it has nothing left to do.
    pub(crate) fn is_idle(&self) -> bool {
        !self.alive || self.calls_left == 0 && !self.has_head && self.owners.is_empty()
    }

    pub(crate) fn tick(&mut self, oldest: Ticks, max_local_time: Ticks) {
        self.connection.tick(oldest);
        for owner in &mut self.owners {
            match &mut owner.phase {
                Phase::Held(lease) => {
                    lease.deadline = (lease.deadline - 1).max(0);
                    lease.since = (lease.since + 1).min(max_local_time);
                    lease.retained = (lease.retained - 1).max(0);
                }
                Phase::Ending {
                    step: EndStep::Settle,
                    left,
                    ..
                } => *left = (*left - 1).max(0),
                _ => {}
            }
        }
    }
}
