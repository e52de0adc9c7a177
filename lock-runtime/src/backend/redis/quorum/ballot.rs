//! Decides for one owner of a quorum: answers, messages and time go in, commands and a verdict come out.
//!
//! An owner has the lock if a majority of the nodes has voted for it, all with the same fencing token. Waiters have one
//! order on all nodes, by their stamps: an owner without a majority yields its nodes to an owner with an earlier stamp,
//! as in Maekawa's algorithm with Sanders' correction. `tests/model` explores these decisions.
//! `docs/decisions/quorum.md` has the rules, their sources, and what breaks without each of them. [`place`] shows an
//! owner's states at one node.
//!
//! ```text
//!  ACQUIRES ── a majority of votes with one token ──► HOLDS ── end ──► ENDED
//!   │    ▲───── too late for the caller: it asks again ─┘                ▲
//!   └─ end: given up, or the caller is gone ─────────────────────────────┘
//! ```

pub(crate) mod first_end;
mod giving_way;
pub(crate) mod node_command;
pub(crate) mod patience;
pub(crate) mod place;
pub(crate) mod progress;

use std::sync::Arc;
use std::time::Duration;

use crate::backend::redis::quorum::ballot::node_command::{Command, NodeReply, Proposal};
use crate::backend::redis::quorum::ballot::patience::{LOOKS, Patience};
use crate::backend::redis::quorum::ballot::place::{
    ClockState, Late, Message, Place, Reason, Standing, View,
};
use crate::backend::wire::error::WireError;
use crate::background::moment::Moment;
use crate::control::is_removed;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::lease::schedule::is_fresh;

/// How far a guessed token is ahead of its expected arrival time (µs). If a command arrives later than its guess, the
/// node mints another token, and the nodes must be asked again.
pub(crate) const GUESS_AHEAD: u64 = 20_000;

/// The phase of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Acquires,
    /// The owner has had a majority with this token.
    Holds(FencingToken),
    /// The owner was ended, and sends only ends.
    Ended,
}

/// The result of counting the votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The owner has no majority.
    Open,
    /// There are enough votes, but their tokens differ, so the largest must be written back.
    Unequal(FencingToken),
    /// The owner has the lock. The lease counts from `at`, when the latest of the votes that it needs was requested.
    Has { grant: Grant, at: Moment },
}

/// An owner's knowledge about each node.
#[derive(Clone, Debug)]
pub(crate) struct Ballot {
    pub(in crate::backend::redis::quorum) places: Box<[Place]>,
    /// The owner's place in the order of all waiters, and the base of its first proposal of a token (µs).
    pub(in crate::backend::redis::quorum) stamp: u64,
    pub(in crate::backend::redis::quorum) ttl: Duration,
    pub(in crate::backend::redis::quorum) patience: Patience,
    /// The largest token that any node has reported.
    pub(in crate::backend::redis::quorum) largest: u64,
    pub(in crate::backend::redis::quorum) phase: Phase,
    /// When to ask the other owners' nodes again; `None` unless votes are split.
    pub(in crate::backend::redis::quorum) next_look: Option<Moment>,
    pub(in crate::backend::redis::quorum) looks: u32,
    pub(in crate::backend::redis::quorum) most_looks: u32,
    /// Whether this attempt has had a node.
    pub(in crate::backend::redis::quorum) had_a_node: bool,
    /// Since when another owner seems to have a majority.
    pub(in crate::backend::redis::quorum) lost_since: Option<Moment>,
    /// When a node last kept this owner although the owner offered to yield, since no earlier waiter queued there.
    pub(in crate::backend::redis::quorum) kept_at: Option<Moment>,
    /// Whether an attempt is in progress, which handles messages itself.
    pub(crate) is_driven: bool,
}

impl Ballot {
    pub(crate) fn new(nodes: usize, stamp: u64, ttl: Duration, patience: Patience) -> Ballot {
        Ballot {
            places: (0..nodes).map(|_| Place::default()).collect(),
            stamp,
            ttl,
            patience,
            largest: 0,
            phase: Phase::Acquires,
            next_look: None,
            looks: 0,
            most_looks: LOOKS,
            had_a_node: false,
            lost_since: None,
            kept_at: None,
            is_driven: false,
        }
    }

    /// Creates the ballot of an owner that ended earlier, and may have left anything on any node.
    pub(crate) fn of_ended(nodes: usize) -> Ballot {
        let patience = Patience {
            with_silence: Duration::ZERO,
            before_look: Duration::ZERO,
        };
        let mut ballot = Ballot::new(nodes, 0, Duration::ZERO, patience);
        for place in &mut ballot.places {
            place.outstanding.assume_stored();
        }
        ballot
    }

    pub(crate) fn place(&self, node: usize) -> &Place {
        &self.places[node]
    }

    pub(crate) fn place_mut(&mut self, node: usize) -> &mut Place {
        &mut self.places[node]
    }

    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    pub(crate) fn ttl(&self) -> Duration {
        self.ttl
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    fn majority(&self) -> usize {
        let half = self.places.len() / 2;
        if is_removed!(more_than_half) {
            return half;
        }
        half + 1
    }

    /// Notes that the owner has the lock, so it no longer yields nodes.
    pub(crate) fn hold(&mut self, token: FencingToken) {
        self.phase = Phase::Holds(token);
    }

    /// Begins an attempt. The last one may have used up its looks at the nodes, or was granted the lock too late.
    ///
    /// A caller that only tries keeps looking as long as nobody has the lock. Otherwise all callers could find it busy.
    pub(crate) fn begin_attempt(&mut self, patience: Patience, only_tries: bool) {
        self.patience = patience;
        self.most_looks = if only_tries { u32::MAX } else { LOOKS };
        (self.looks, self.next_look) = (0, None);
        (self.had_a_node, self.lost_since, self.kept_at) = (false, None, None);
        if matches!(self.phase, Phase::Holds(_)) {
            self.phase = Phase::Acquires;
        }
    }

    /// Returns the first commands of an attempt: one to each node, or only those that answer messages. The first
    /// message also makes the owner ask each node that another owner has.
    pub(crate) fn ask(&mut self, queue: bool, now: Moment) -> Vec<(usize, Command)> {
        if self.has_message(now) {
            if !self.has_a_node(now) {
                // The first node usually comes from a holder's release, which is reaching the other nodes, too. Ask
                // them now, without waiting for their messages.
                self.places.iter_mut().for_each(Place::expect_end);
            }
            return self.due(queue, now);
        }
        let idle = self.idle_places().collect::<Vec<_>>();
        let commands = idle.into_iter();
        commands
            .map(|node| (node, self.acquire(node, queue)))
            .collect()
    }

    /// Returns whether a message has come that needs a command in answer.
    pub(crate) fn has_message(&self, now: Moment) -> bool {
        let is_split = self.is_split(now);
        self.phase == Phase::Acquires
            && self.places.iter().any(|place| {
                let is_due = match place.standing {
                    Standing::Waiting { .. } => true,
                    Standing::Held { .. } => is_split,
                    Standing::Unknown | Standing::AskAgain => false,
                };
                place.is_notified() && place.may_repeat() && is_due
            })
    }

    pub(crate) fn due(&mut self, queue: bool, now: Moment) -> Vec<(usize, Command)> {
        if self.phase != Phase::Acquires {
            return Vec::new();
        }
        self.note_majority_of_another(now);
        let looks = self.look_is_due(now);
        let is_split = self.is_split(now);
        let gives_way = is_split && self.must_give_way(now);
        let verdict = self.verdict(now);
        let due = |node: usize| {
            let place = &self.places[node];
            match &place.standing {
                &Standing::Held { grant, .. } if is_split && (place.is_notified() || gives_way) => {
                    let token = grant.token;
                    Some(Command::Yield { token })
                }
                Standing::Held { grant, .. } => {
                    let is_less =
                        matches!(verdict, Verdict::Unequal(largest) if grant.token < largest);
                    is_less.then(|| self.acquire(node, queue))
                }
                Standing::Waiting { .. } => {
                    (place.is_notified() || looks).then(|| self.acquire(node, queue))
                }
                Standing::AskAgain => Some(self.acquire(node, queue)),
                Standing::Unknown => None,
            }
        };
        self.idle_places()
            .filter(|&node| self.places[node].may_repeat())
            .filter_map(|node| due(node).map(|command| (node, command)))
            .collect()
    }

    fn idle_places(&self) -> impl Iterator<Item = usize> {
        (0..self.places.len()).filter(|&node| self.places[node].sent.is_none())
    }

    fn acquire(&self, node: usize, queue: bool) -> Command {
        let void = self.places[node].void;
        let known = match void {
            _ if is_removed!(token_of_a_lost_yield) => self.largest,
            0 => self.largest,
            void => self.largest.max(void + 1),
        };
        let proposal = match known {
            0 => Proposal::Guess(self.stamp + GUESS_AHEAD),
            known => Proposal::Known(known),
        };
        Command::Acquire { queue, proposal }
    }

    /// Notes that `command` is on its way to `node`.
    pub(crate) fn sent(&mut self, node: usize, command: Command, now: Moment) {
        let view = if self.has_a_node(now) {
            View::Fresh
        } else {
            View::Stale
        };
        self.places[node].send(command, view, now);
    }

    /// Notes the answer of `node` to the command in flight, which was sent at `at`.
    pub(crate) fn answered(&mut self, node: usize, at: Moment, reply: NodeReply, now: Moment) {
        let place = &mut self.places[node];
        let Some(sent) = place.sent.take() else {
            return;
        };
        place.failure = None;
        if matches!(reply, NodeReply::Held(_)) {
            place.note_held();
        }
        place.expect_nothing();
        self.patience.note(now.since(at));
        let is_yield = matches!(sent.command, Command::Yield { .. });
        // A `yield` does not extend the expiry of a node that is kept.
        let at = match place.standing {
            Standing::Held { at, .. } if is_yield => at,
            _ => at,
        };
        place.standing = match reply {
            // The unanswered `yield` that named this grant may still give the node away.
            NodeReply::Held(grant)
                if grant.token.get() <= place.void && !is_removed!(token_of_a_lost_yield) =>
            {
                Standing::AskAgain
            }
            NodeReply::Held(grant) => {
                self.largest = self.largest.max(grant.token.get());
                self.had_a_node = true;
                Standing::Held { grant, at }
            }
            NodeReply::Early(left) => {
                place.failure = Some(Reason::Early(left));
                Standing::Unknown
            }
            NodeReply::Absent => Standing::AskAgain,
            NodeReply::Waiting { holder, waiting } => {
                place.outstanding.note_not_held();
                Standing::Waiting {
                    holder,
                    waiting: Arc::new(waiting),
                    view: sent.view,
                }
            }
        };
        if is_yield {
            let is_kept = matches!(self.places[node].standing, Standing::Held { .. });
            self.kept_at = is_kept.then_some(now).or(self.kept_at);
            // To yield again, the owner must first look at the other owners' nodes again.
            for place in &mut self.places {
                if let Standing::Waiting { view, .. } = &mut place.standing {
                    *view = View::Stale;
                }
            }
        }
    }

    /// Notes that the command in flight is not answered, and may yet be carried out.
    pub(crate) fn unanswered(&mut self, node: usize, error: &WireError) {
        let place = &mut self.places[node];
        place.failure = Some(Reason::of(error));
        place.message = Message::None;
        let Some(sent) = place.sent.take() else {
            return;
        };
        match sent.command {
            Command::Yield { token } => {
                place.void = place.void.max(token.get());
                place.standing = Standing::Unknown;
            }
            Command::Acquire { .. } if matches!(place.standing, Standing::Held { .. }) => {}
            Command::Acquire { .. } => {
                if matches!(error, WireError::Refused(_)) {
                    // The refusal is an answer: the node has stored nothing.
                    place.outstanding.note_not_held();
                }
                place.standing = Standing::Unknown;
            }
        }
    }

    /// Notes a message of `node` that names this owner.
    pub(crate) fn notified(&mut self, node: usize) {
        self.places[node].note_message();
    }

    /// Notes that a vote no longer counts.
    pub(crate) fn drop_vote(&mut self, node: usize, error: &WireError) {
        let place = &mut self.places[node];
        place.failure = Some(Reason::of(error));
        place.standing = Standing::Unknown;
    }

    /// Notes that a renewal has rewritten a holder's record.
    pub(crate) fn restored(&mut self, node: usize, grant: Grant, at: Moment) {
        self.places[node].standing = Standing::Held { grant, at };
    }

    /// Counts the votes.
    pub(crate) fn verdict(&self, now: Moment) -> Verdict {
        let votes: Vec<(Grant, Moment)> = self.votes(now).collect();
        let majority = self.majority();
        let Some(largest) = votes.iter().map(|(grant, _)| grant.token).max() else {
            return Verdict::Open;
        };
        if votes.len() < majority {
            return Verdict::Open;
        }
        let agree = votes.iter().filter(|(grant, _)| grant.token == largest);
        if agree.count() < majority && !is_removed!(token_written_back) {
            return Verdict::Unequal(largest);
        }
        let mut times: Vec<Moment> = votes.iter().map(|&(_, at)| at).collect();
        times.sort_unstable();
        Verdict::Has {
            grant: Grant {
                contended: self.is_contended(),
                token: largest,
            },
            at: times[times.len() - majority],
        }
    }

    /// Iterates over the votes that count, with the time when each was requested.
    fn votes(&self, now: Moment) -> impl Iterator<Item = (Grant, Moment)> {
        self.places.iter().filter_map(move |place| {
            let (grant, at) = place.held()?;
            let goes = place.is_yielding() && !is_removed!(vote_under_a_yield);
            let counts = !goes && place.clock == ClockState::Judged;
            (counts && is_fresh(now, at, self.ttl)).then_some((grant, at))
        })
    }

    /// Returns whether a waiter is known to queue on any node.
    pub(crate) fn is_contended(&self) -> bool {
        self.places.iter().any(Place::is_contended)
    }

    /// Returns the nodes that were probably granted to this holder late, each only once: nodes whose message no command
    /// has answered, and nodes that should have been asked again. Nodes that the holder has confirmed are not among
    /// them; their messages report a waiter.
    pub(crate) fn take_late_claims(&mut self) -> Vec<usize> {
        if !matches!(self.phase, Phase::Holds(_)) {
            return Vec::new();
        }
        let places = self.places.iter_mut().enumerate();
        let claims = places.filter(|(_, place)| {
            let is_named = place.is_notified() || matches!(place.standing, Standing::AskAgain);
            is_named && place.sent.is_none() && place.held().is_none() && place.late != Late::Claim
        });
        claims
            .map(|(node, place)| {
                place.late = Late::Claim;
                node
            })
            .collect()
    }

    /// Confirms a node that `take_late_claims` returned. Returns the ttl, or `None` if the owner has ended.
    pub(crate) fn confirms_claim(&mut self, node: usize) -> Option<Duration> {
        let place = &mut self.places[node];
        if place.late == Late::Claim {
            place.late = Late::Nothing;
        }
        let is_held = matches!(self.phase, Phase::Holds(_));
        (is_held && place.held().is_none()).then_some(self.ttl)
    }
}

#[cfg(test)]
mod tests;
