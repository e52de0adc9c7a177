//! Nodes that come to an owner after it has won.

use std::time::Duration;

use crate::backend::redis::quorum::ballot::place::{Late, Standing};
use crate::backend::redis::quorum::ballot::{Ballot, Phase};

impl Ballot {
    /// The nodes that have sent a message to this holder which no command has answered, or were to be asked and were not, each
    /// once. They have most likely been given to it: those that it has confirmed say that a waiter queues.
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

    /// A node that `take_late_claims` returned is to be confirmed now, for this time; `None` if the owner has ended.
    pub(crate) fn confirms_claim(&mut self, node: usize) -> Option<Duration> {
        let place = &mut self.places[node];
        if place.late == Late::Claim {
            place.late = Late::Nothing;
        }
        let is_held = matches!(self.phase, Phase::Holds(_));
        (is_held && place.held().is_none()).then_some(self.ttl)
    }
}
