//! The state of one client: its local queue, owners, leases and connection. It is that of the runtime's
//! `local_queue`, `acquisition`, `registry`, `watchdog` and `reaper`.

use crate::backend::engine::ending::Ending;
use crate::backend::wire::outstanding::Outstanding;
use crate::network::{Connection, TICK};
use crate::server::{Share, Ticks, Token};

/// A process with one client in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Client {
    pub(crate) alive: bool,
    /// The server counts the client as a receiver of announcements.
    pub(crate) subscribed: bool,
    /// Calls that have not begun.
    pub(crate) calls_left: u8,
    /// The shares of calls that have not begun, the next one last.
    pub(crate) shares_left: Vec<Share>,
    /// The local queue has a head.
    pub(crate) has_head: bool,
    /// The ttls of the waiters behind the head.
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
    /// The ttl of its present caller.
    pub(crate) ttl: Ticks,
    /// The owner heads the local queue, and passes its head on when it ends.
    pub(crate) heads_queue: bool,
    /// The share that it asks for; `None` is the whole lock.
    pub(crate) share: Option<Share>,
    /// A command other than a renewal is unanswered.
    pub(crate) awaits_reply: bool,
    pub(crate) outstanding: Outstanding,
    /// Its `end` or `release` was sent.
    pub(crate) is_ended: bool,
    pub(crate) phase: Phase,
}

/// The phase of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Phase {
    Competing {
        /// One attempt, and no place in the queue.
        once: bool,
        /// An answer said that another owner holds the lock.
        contended: bool,
    },
    /// The successor of an `end` that is not answered yet.
    Named,
    Held(Lease),
    Ending(End),
}

/// The end of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct End {
    pub(crate) ending: Ending,
    /// The successor that the first end names.
    pub(crate) successor: Option<u8>,
    /// The token in the record, if a release compares and deletes.
    pub(crate) deletes: Option<Token>,
    /// An end has freed the lock. Its client may not know.
    pub(crate) has_freed: bool,
}

/// One granted lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Lease {
    /// Zero is none.
    pub(crate) token: Token,
    /// A mint is under way.
    pub(crate) minting: bool,
    /// How long its holder relies on the lease, by the holder's clock.
    pub(crate) deadline: Ticks,
    pub(crate) body: Body,
    pub(crate) lost: bool,
    pub(crate) contended: bool,
    /// A renewal is under way.
    pub(crate) renewing: bool,
    /// How often the lease was handed over since the grant.
    pub(crate) turn: u8,
    /// The time since the grant, up to `max_local_time`.
    pub(crate) since: Ticks,
    /// How long the lease is still retained; zero if it is not.
    pub(crate) retained: Ticks,
    /// The connection broke since the grant; recorded only where leases are retained.
    pub(crate) torn: bool,
    pub(crate) downgrades: Downgrade,
    /// How long the lock is to stay taken although its holder is done.
    pub(crate) rests: Ticks,
    /// The server took the lock anew when it should have become a share. Its client cannot see that.
    pub(crate) taken_anew: bool,
    /// The next server may lack the lease, which is to be confirmed at once.
    pub(crate) is_doubtful: bool,
}

/// Whether a lock becomes a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Downgrade {
    No,
    /// No answer says that it is one.
    Asked,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Body {
    /// The lock is granted, and its body has not begun.
    Outside,
    Inside,
    /// The body is over, and the lease is retained for the next caller.
    Over,
}

/// What the head of a local queue passes on to the next caller.
pub(crate) enum Handoff {
    Fresh,
    Queued(Owner),
    /// An owner that was granted its ttl, the flag and token of the answer, and the time since.
    Granted(Owner, Token, bool, Ticks),
}

impl Owner {
    pub(crate) fn new(number: u8, ttl: Ticks, heads_queue: bool, phase: Phase) -> Owner {
        Owner {
            number,
            ttl,
            heads_queue,
            share: None,
            awaits_reply: false,
            outstanding: Outstanding::default(),
            is_ended: false,
            phase,
        }
    }

    pub(crate) fn lease(&self) -> Option<&Lease> {
        match &self.phase {
            Phase::Held(lease) => Some(lease),
            _ => None,
        }
    }

    pub(crate) fn end(&self) -> Option<&End> {
        match &self.phase {
            Phase::Ending(end) => Some(end),
            _ => None,
        }
    }
}

impl End {
    pub(crate) fn new(ending: Ending) -> End {
        End {
            ending,
            successor: None,
            deletes: None,
            has_freed: false,
        }
    }

    /// Forgets what nothing depends on any more.
    pub(crate) fn reduce(&mut self) {
        self.ending.reduce();
        self.has_freed &= self.ending.owes_report();
        self.deletes = self.deletes.filter(|_| self.ending.releases());
    }
}

impl Lease {
    /// Whether the body may go on.
    pub(crate) fn is_valid(&self) -> bool {
        !self.lost && self.deadline > 0
    }

    /// How long the lock is to stay taken if it is released now. A lost lease rests no more, and one without a body has
    /// done nothing.
    pub(crate) fn rest(&self) -> Ticks {
        if self.is_valid() && self.body == Body::Inside {
            self.rests
        } else {
            0
        }
    }

    /// Whether its owner relies on a share that was a lock.
    pub(crate) fn is_downgraded(&self) -> bool {
        self.downgrades == Downgrade::Done && self.is_valid()
    }
}

impl Client {
    pub(crate) fn new(calls: u8, shares: &[Share]) -> Client {
        Client {
            alive: true,
            subscribed: true,
            calls_left: calls,
            shares_left: shares.to_vec(),
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

    /// Whether the client has nothing left to do.
    pub(crate) fn is_idle(&self) -> bool {
        let has_calls = self.calls_left > 0 || !self.shares_left.is_empty();
        !self.alive || !has_calls && !self.has_head && self.owners.is_empty()
    }

    pub(crate) fn tick(&mut self, oldest: Ticks, max_local_time: Ticks) {
        self.connection.tick(oldest);
        for owner in &mut self.owners {
            match &mut owner.phase {
                Phase::Held(lease) => {
                    lease.deadline = (lease.deadline - 1).max(0);
                    lease.since = (lease.since + 1).min(max_local_time);
                    lease.retained = (lease.retained - 1).max(0);
                    lease.rests = (lease.rests - 1).max(0);
                }
                Phase::Ending(End { ending, .. }) => {
                    // No caller waits for so long: it is told that the outcome is not known.
                    ending.late();
                    ending.pass(TICK);
                }
                _ => {}
            }
        }
    }
}
