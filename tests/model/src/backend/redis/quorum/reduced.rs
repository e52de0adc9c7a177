//! Makes ballots equal if they differ only in fields that no decision of the model reads.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::time::Duration;

use crate::backend::redis::quorum::ballot::node_command::{Command, Proposal};
use crate::backend::redis::quorum::ballot::patience::Patience;
use crate::backend::redis::quorum::ballot::place::{Late, Place, Sent, Standing, Waiters};
use crate::backend::redis::quorum::ballot::{Ballot, Phase};
use crate::backend::redis::quorum::votes::{Vote, Votes};
use crate::background::moment::Moment;
use crate::fingerprint::Fingerprint;

/// The time of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Time {
    /// Advances in ticks.
    Ticks(Duration),
    IsOver,
}

impl Ballot {
    /// Forgets what no decision reads in the present phase. In the model no caller makes a single
    /// attempt, nobody reads the outcome of an end, and a waiter may follow every end.
    pub(crate) fn reduce(&mut self, now: Moment, time: Time) {
        (self.had_a_node, self.lost_since) = (false, None);
        let silence = self.patience.with_silence;
        self.kept_at = self.kept_at.filter(|&kept| now <= kept + silence);
        self.next_look = self.next_look.filter(|_| self.looks < self.most_looks);
        match time {
            // A moment between two ticks counts as the second of them.
            Time::Ticks(tick) => {
                let ticks = |time: Duration| time.as_nanos().div_ceil(tick.as_nanos()) as u32;
                let next = |look: Moment| now + tick * ticks(look.since(now));
                self.next_look = self.next_look.map(next);
            }
            Time::IsOver => self.reduce_the_last(now),
        }
        for place in &mut self.places {
            place.waiters = Waiters::Unknown;
            place.outstanding.reduce_queued();
        }
        if self.phase != Phase::Acquires {
            (self.largest, self.next_look, self.looks, self.kept_at) = (0, None, 0, None);
            self.patience.with_silence = Duration::ZERO;
            for place in &mut self.places {
                let outstanding = std::mem::take(&mut place.outstanding);
                *place = Place {
                    outstanding,
                    ..Place::default()
                };
            }
        }
    }

    /// No tick follows: no check falls due, and a node counts as silent by the commands in flight
    /// for longer than this tick.
    fn reduce_the_last(&mut self, now: Moment) {
        self.next_look = None;
        self.looks = if self.looks < self.most_looks {
            0
        } else {
            self.most_looks
        };
        let mut sent = self.places.iter().filter_map(|place| place.sent.as_ref());
        if self.kept_at.is_none() && sent.all(|sent| sent.at == now) {
            self.patience = Patience::of(Duration::ZERO);
        }
    }

    /// Reorders the nodes: place `i` gets the node that was at `order[i]`.
    pub(crate) fn order_nodes(&mut self, order: &[usize]) {
        let places = order.iter().map(|&node| self.places[node].clone());
        self.places = places.collect();
    }

    /// The part of the owner's state at a node that makes a difference.
    pub(crate) fn fingerprint_of(&self, node: usize) -> u64 {
        Fingerprint::of(&self.places[node])
    }
}

impl Hash for Ballot {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Ballot {
            places,
            largest,
            phase,
            next_look,
            looks,
            kept_at,
            patience,
            ..
        } = self;
        places.hash(hasher);
        largest.hash(hasher);
        match phase {
            Phase::Acquires => 0.hash(hasher),
            Phase::Holds(token) => token.hash(hasher),
            Phase::Ended => u64::MAX.hash(hasher),
        }
        next_look.map(Moment::as_nanos).hash(hasher);
        looks.hash(hasher);
        kept_at.map(Moment::as_nanos).hash(hasher);
        patience.with_silence.hash(hasher);
    }
}

impl Hash for Place {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match &self.standing {
            Standing::Unknown => 0_u8.hash(hasher),
            Standing::AskAgain => 3_u8.hash(hasher),
            Standing::Held { grant, at } => (1_u8, grant.token, at.as_nanos()).hash(hasher),
            Standing::Waiting { holder, view, .. } => (2_u8, holder.0, view).hash(hasher),
        }
        if let Some(Sent {
            command, at, view, ..
        }) = &self.sent
        {
            match command {
                Command::Acquire { proposal, .. } => match proposal {
                    Proposal::Guess(token) => (0_u8, token).hash(hasher),
                    Proposal::Known(token) => (1_u8, token).hash(hasher),
                },
                Command::Yield { token } => (2_u8, token).hash(hasher),
            }
            (at.as_nanos(), view).hash(hasher);
        }
        let flags = [
            self.sent.is_some(),
            self.failure.is_some(),
            self.late == Late::Claim,
        ];
        flags
            .map(u8::from)
            .iter()
            .fold(0, |all, flag| all << 1 | flag)
            .hash(hasher);
        self.message.hash(hasher);
        self.void.hash(hasher);
        self.outstanding.hash(hasher);
    }
}

impl Hash for Votes {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for vote in &self.nodes {
            vote.as_ref().map(discriminant).hash(hasher);
            if let Some(Vote::Yes(answered)) = vote {
                (answered.at.as_nanos(), answered.answer.token).hash(hasher);
            }
        }
    }
}

impl Votes {
    /// Reorders the nodes: place `i` gets the node that was at `order[i]`.
    pub(crate) fn order_nodes(&mut self, order: &[usize]) {
        let nodes = order.iter().map(|&node| self.nodes[node].clone());
        self.nodes = nodes.collect();
    }

    /// The part of a node's vote that makes a difference.
    pub(crate) fn fingerprint_of(&self, node: usize) -> u64 {
        let votes = Votes {
            nodes: [self.nodes[node].clone()].into(),
        };
        Fingerprint::of(&votes)
    }

    /// Whether every node has answered.
    pub(crate) fn is_over(&self) -> bool {
        self.nodes.iter().all(Option::is_some)
    }
}
