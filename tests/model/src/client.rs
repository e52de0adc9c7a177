//! The state of one client: its local queue, owners, leases and connection. The runtime keeps the
//! same state in `local_queue`, `acquisition`, `registry`, `watchdog` and `reaper`.

use std::convert::Infallible;

use crate::backend::engine::competing::Competing;
use crate::backend::engine::ending::Ending;
use crate::backend::engine::handoff::Owned;
use crate::backend::engine::holding::Holding;
use crate::backend::engine::local_queue::LocalQueue;
use crate::backend::wire::outstanding::Outstanding;
use crate::conduct::LocalTurns;
use crate::network::{Connection, TICK};
use crate::server::{Share, Ticks, Token};

/// A process with one client in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Client {
    pub(crate) alive: bool,
    /// The server counts the client as a receiver of announcements.
    pub(crate) subscribed: bool,
    pub(crate) calls_left: u8,
    /// The shares of calls that have not begun, the next one last.
    pub(crate) shares_left: Vec<Share>,
    /// The locks that each call takes together, in their order; empty for a single lock.
    pub(crate) together: Vec<u8>,
    /// The callers that want the whole lock. Each waiter records the ttl that it asks for.
    pub(crate) queue: LocalQueue<Ticks, ()>,
    /// The callers that share the lock. Each is a head.
    pub(crate) sharing: LocalQueue<Ticks, ()>,
    pub(crate) next_number: u8,
    pub(crate) owners: Vec<Owner>,
    pub(crate) connection: Connection,
}

/// An owner that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner {
    pub(crate) number: u8,
    /// The ttl of its present caller; zero once it is ended.
    pub(crate) ttl: Ticks,
    /// The share that it asks for; `None` is the whole lock.
    pub(crate) share: Option<Share>,
    /// When the server granted the lock, or confirmed the grant, as long as it has no token.
    pub(crate) granted: Token,
    /// A command other than a renewal is unanswered.
    pub(crate) awaits_reply: bool,
    /// The commands it has sent. Until it holds the lock, the competing machine has them.
    outstanding: Option<Outstanding>,
    /// Its `end` or `release` was sent.
    pub(crate) is_ended: bool,
    pub(crate) phase: Phase,
}

/// The phase of an owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Phase {
    Competing(Competing<Outstanding>),
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
    pub(crate) minting: bool,
    /// How long the holder relies on the lease, by its own clock.
    pub(crate) deadline: Ticks,
    pub(crate) body: Body,
    pub(crate) lost: bool,
    /// The state that the runtime's decisions use.
    pub(crate) holding: Holding,
    /// A renewal failed, and none has been confirmed since; recorded only where leases are
    /// retained.
    pub(crate) is_unconfirmed: bool,
    /// How long the lease is still retained; zero if it is not.
    pub(crate) retained: Ticks,
    /// The connection broke since the grant; recorded only where leases are retained, for a rule.
    pub(crate) torn: bool,
    pub(crate) downgrades: Downgrade,
    /// How long the lock must stay taken after its holder is done.
    pub(crate) reserves: Ticks,
    /// The server took a free lock when it should have turned a held one into a share. The client
    /// cannot see that.
    pub(crate) taken_anew: bool,
}

/// Whether a lock becomes a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Downgrade {
    No,
    /// No answer has confirmed the share.
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

impl Owned for Outstanding {
    fn outstanding(&self) -> &Outstanding {
        self
    }

    fn outstanding_mut(&mut self) -> &mut Outstanding {
        self
    }
}

impl Owner {
    pub(crate) fn new(number: u8, ttl: Ticks, phase: Phase) -> Owner {
        Owner {
            number,
            ttl,
            share: None,
            granted: 0,
            awaits_reply: false,
            outstanding: None,
            is_ended: false,
            phase,
        }
    }

    /// The commands it has sent. A call's record is created before its first attempt.
    pub(crate) fn outstanding(&mut self) -> &mut Outstanding {
        match &mut self.phase {
            Phase::Competing(competing) => {
                let make = || Ok::<_, Infallible>(Outstanding::default());
                let Ok(outstanding) = competing.owner_or_try(make);
                outstanding
            }
            _ => self.outstanding.get_or_insert_default(),
        }
    }

    /// The same, for the next phase.
    pub(crate) fn take_outstanding(&mut self) -> Outstanding {
        self.outstanding.take().unwrap_or_default()
    }

    /// Goes to the next phase.
    pub(crate) fn goes_on(&mut self, outstanding: Outstanding, phase: Phase) {
        (self.outstanding, self.phase) = (Some(outstanding), phase);
        self.awaits_reply = false;
    }

    /// The machine of a competing call.
    pub(crate) fn competing(&mut self) -> &mut Competing<Outstanding> {
        match &mut self.phase {
            Phase::Competing(competing) => competing,
            phase => unreachable!("{phase:?} does not compete"),
        }
    }

    pub(crate) fn held(&mut self) -> &mut Lease {
        match &mut self.phase {
            Phase::Held(lease) => lease,
            phase => unreachable!("{phase:?} holds nothing"),
        }
    }

    /// The end of an owner that is being ended.
    pub(crate) fn ending(&mut self) -> &mut End {
        match &mut self.phase {
            Phase::Ending(end) => end,
            phase => unreachable!("{phase:?} is not ended"),
        }
    }

    /// Whether the owner is a head of a local queue, or must promote one.
    pub(crate) fn is_head(&self) -> bool {
        match &self.phase {
            Phase::Competing(competing) => competing.heads_queue(),
            Phase::Held(lease) => lease.holding.heads_queue(),
            Phase::Ending(end) => end.ending.owes_head(),
            Phase::Named => false,
        }
    }

    /// Whether the owner is in the queue of sharing callers. A lock that becomes a share is not.
    pub(crate) fn is_among_shares(&self) -> bool {
        matches!(self.phase, Phase::Competing(_)) && self.share.is_some()
    }

    /// Whether the owner waits in the queue, or will.
    pub(crate) fn queues(&self) -> bool {
        matches!(&self.phase, Phase::Competing(competing) if competing.queues())
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

    /// Drops state that nothing depends on.
    pub(crate) fn reduce(&mut self) {
        self.ending.reduce();
        self.has_freed &= self.ending.owes_report();
        self.deletes = self.deletes.filter(|_| self.ending.releases());
    }
}

impl Lease {
    /// Whether the body may continue.
    pub(crate) fn is_valid(&self) -> bool {
        !self.lost && self.deadline > 0
    }

    /// How long the lock must stay taken if it is released now. A lost lease is not reserved, nor
    /// is a lease whose body never began.
    pub(crate) fn reservation(&self) -> Ticks {
        if self.is_valid() && self.body == Body::Inside {
            self.reserves
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
    pub(crate) fn new(calls: u8, shares: &[Share], together: Vec<u8>) -> Client {
        Client {
            alive: true,
            subscribed: true,
            calls_left: calls,
            shares_left: shares.to_vec(),
            together,
            queue: LocalQueue::new(),
            sharing: LocalQueue::new(),
            next_number: 0,
            owners: Vec::new(),
            connection: Connection::default(),
        }
    }

    /// The locks of its calls.
    pub(crate) fn locks(&self) -> &[u8] {
        if self.together.is_empty() {
            &[0]
        } else {
            &self.together
        }
    }

    /// Whether a call may begin. With several locks, a client makes one call at a time.
    pub(crate) fn may_call(&self) -> bool {
        self.calls_left > 0 && (self.together.is_empty() || self.owners.is_empty())
    }

    pub(crate) fn find(&self, number: u8) -> Option<usize> {
        self.owners.iter().position(|owner| owner.number == number)
    }

    /// Whether a call waits with this owner.
    pub(crate) fn waits_as(&self, number: u8) -> bool {
        let index = self.find(number);
        index.is_some_and(|index| matches!(self.owners[index].phase, Phase::Competing(_)))
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
        let has_head = self.queue.heads() > 0;
        !self.alive || !has_calls && !has_head && self.owners.is_empty()
    }

    pub(crate) fn tick(&mut self, oldest: Ticks, of_turns: &LocalTurns) {
        self.connection.tick(oldest);
        for owner in &mut self.owners {
            match &mut owner.phase {
                Phase::Held(lease) => {
                    lease.deadline = (lease.deadline - 1).max(0);
                    lease.holding.pass(of_turns.tick);
                    lease.retained = (lease.retained - 1).max(0);
                    lease.reserves = (lease.reserves - 1).max(0);
                }
                Phase::Ending(End { ending, .. }) => {
                    // No caller waits for so long: it was told that the outcome is unknown.
                    ending.late();
                    ending.pass(TICK);
                }
                _ => {}
            }
        }
    }
}
