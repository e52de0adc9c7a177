//! One owner: its ballot, as in the runtime, and the rest of its client's state.

use std::time::Duration;

use super::mistake::Mistake;
use super::records::{Count, Ticks, Token};
use super::scripts;
use crate::backend::redis::quorum::ballot::node_command::{Command, HolderId, NodeReply, Proposal};
use crate::backend::redis::quorum::ballot::patience::Patience;
use crate::backend::redis::quorum::ballot::progress::Progress;
use crate::backend::redis::quorum::ballot::{Ballot, GUESS_AHEAD, Phase, Verdict};
use crate::backend::redis::quorum::votes::Votes;
use crate::backend::wire::reply::Waiting;
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::{Grant, Holder};
use crate::lease::schedule::is_fresh;

/// A tick. A lease of n ticks, less its margin, ends during its last tick.
pub(super) const TICK: Duration = Duration::from_millis(160);

#[derive(Clone, Debug, Hash)]
pub(super) struct Owner {
    pub(super) ballot: Ballot,
    /// How long each node that does not vote yet has waited, and when that was measured.
    pub(super) counts: Vec<Option<(Count, Ticks)>>,
    /// When the request was sent that starts the holder's lease.
    pub(super) lease: Ticks,
    /// The answers to the renewal in flight.
    pub(super) renewal: Option<Votes>,
}

impl Owner {
    pub(super) fn new(nodes: usize, stamp: Token, ttl: Ticks) -> Owner {
        Owner {
            ballot: Ballot::new(nodes, stamp.unsigned_abs(), length(ttl), patience()),
            counts: vec![None; nodes],
            lease: 0,
            renewal: None,
        }
    }

    pub(super) fn acquires(&self) -> bool {
        self.ballot.phase() == Phase::Acquires
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ballot.phase() == Phase::Ended
    }

    /// The token of an owner that has had a majority.
    pub(super) fn token(&self) -> Option<Token> {
        match self.ballot.phase() {
            Phase::Holds(token) => Some(token_of(token)),
            Phase::Acquires | Phase::Ended => None,
        }
    }

    /// Whether the owner may rely on the lock.
    pub(super) fn is_valid(&self, now: Ticks) -> bool {
        self.token().is_some() && is_fresh(time(now), time(self.lease), self.ballot.ttl())
    }

    /// Whether the attempt failed, so that another one may begin at any time.
    pub(super) fn may_begin_anew(&self, now: Ticks) -> bool {
        let progress = self.ballot.progress(time(now), false);
        matches!(progress, Progress::Waits(_) | Progress::TooFew)
    }

    /// Begins an attempt: its first commands.
    pub(super) fn begin_attempt(&mut self, now: Ticks) -> Vec<(usize, Command)> {
        self.ballot.begin_attempt(patience(), false);
        self.ballot.ask(true, time(now))
    }

    /// Takes the lock if the ballot allows it. Returns its token.
    pub(super) fn take(&mut self, now: Ticks, mistake: Option<Mistake>) -> Option<Token> {
        let Verdict::Has { grant, at } = self.ballot.verdict(time(now)) else {
            return None;
        };
        let mut nodes = 0..self.counts.len();
        let first = nodes.find_map(|node| Some(self.ballot.place(node).held()?.0.token));
        let token = match first {
            Some(first) if mistake == Some(Mistake::FirstToken) => first,
            _ => grant.token,
        };
        self.ballot.hold(token);
        self.lease = ticks(at);
        Some(token_of(token))
    }

    /// A majority has confirmed the lease, in answer to requests of this time.
    pub(super) fn renew(&mut self, at: Moment) {
        self.lease = self.lease.max(ticks(at));
    }

    /// The part of the owner's state at a node that makes a difference.
    pub(super) fn fingerprint_of(&self, node: usize) -> (u64, Option<(Count, Ticks)>, Option<u64>) {
        let vote = self
            .renewal
            .as_ref()
            .map(|votes| votes.fingerprint_of(node));
        (self.ballot.fingerprint_of(node), self.counts[node], vote)
    }

    /// Reorders the nodes: place `i` gets the node that was at `order[i]`.
    pub(super) fn order_nodes(&mut self, order: &[usize]) {
        self.ballot.order_nodes(order);
        self.counts = order.iter().map(|&node| self.counts[node]).collect();
        if let Some(votes) = &mut self.renewal {
            votes.order_nodes(order);
        }
    }

    /// Converts a command to the scripts' representation.
    pub(super) fn script(&self, command: Command) -> scripts::Command {
        let stamp = self.ballot.stamp() as Token;
        match command {
            Command::Acquire { queue, proposal } => scripts::Command::Acquire {
                ttl: self.ttl(),
                queues: queue,
                stamp,
                proposal: match proposal {
                    Proposal::Guess(token) => {
                        scripts::Proposal::Guess((token - GUESS_AHEAD) as Token)
                    }
                    Proposal::Known(token) => scripts::Proposal::Known(token as Token),
                },
            },
            Command::Yield { token } => scripts::Command::Yield {
                token: token_of(token),
                stamp,
            },
        }
    }

    pub(super) fn ttl(&self) -> Ticks {
        (self.ballot.ttl().as_millis() / TICK.as_millis()) as Ticks
    }
}

/// How long an owner waits for nodes that answer at once.
fn patience() -> Patience {
    Patience::of(Duration::ZERO)
}

/// The answer of a node to an acquire or a yield.
pub(super) fn reply(answer: scripts::Answer) -> NodeReply {
    match answer {
        scripts::Answer::Held { token } => NodeReply::Held(grant(token)),
        scripts::Answer::Waiting {
            holder: Some(holder),
            ..
        } => NodeReply::Waiting {
            holder: HolderId(holder.into()),
            waiting: Waiting {
                remaining: None,
                position: 0,
                holder: Holder::Foreign(0),
                lock: 0,
                holds_later: false,
            },
        },
        // When the node votes, a separate attempt begins.
        scripts::Answer::Marked(_) => NodeReply::Early(Duration::ZERO),
        _ => NodeReply::Absent,
    }
}

/// Only messages announce that a waiter queues.
pub(super) fn grant(token: Token) -> Grant {
    Grant {
        contended: false,
        token: FencingToken::new(token.unsigned_abs()),
    }
}

fn token_of(token: FencingToken) -> Token {
    token.get() as Token
}

pub(super) fn time(ticks: Ticks) -> Moment {
    Moment::FIRST + length(ticks)
}

fn ticks(time: Moment) -> Ticks {
    (time.since(Moment::FIRST).as_nanos() / TICK.as_nanos()) as Ticks
}

fn length(ticks: Ticks) -> Duration {
    TICK * ticks as u32
}
