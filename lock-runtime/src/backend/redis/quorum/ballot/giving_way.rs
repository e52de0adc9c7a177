//! Decides when an owner must yield its nodes to an owner with an earlier stamp, and when to check.

use crate::backend::redis::quorum::ballot::Ballot;
use crate::backend::redis::quorum::ballot::node_command::HolderId;
use crate::backend::redis::quorum::ballot::patience::LOOKS;
use crate::backend::redis::quorum::ballot::place::{Place, Standing, View};
use crate::background::moment::Moment;
use crate::lease::schedule::is_fresh;

impl Ballot {
    /// Returns whether the owner has this node. An expired vote does not count, even if the node has not reported the
    /// expiry.
    pub(super) fn is_held(&self, place: &Place, now: Moment) -> bool {
        place
            .held()
            .is_some_and(|(_, at)| is_fresh(now, at, self.ttl))
    }

    pub(super) fn has_a_node(&self, now: Moment) -> bool {
        self.places.iter().any(|place| self.is_held(place, now))
    }

    /// Returns whether votes are split: the owner has a node, and so has another owner.
    pub(crate) fn is_split(&self, now: Moment) -> bool {
        let mut places = self.places.iter();
        self.has_a_node(now) && places.any(|place| place.holder().is_some())
    }

    /// Returns whether the owner must offer its nodes: each node that is not silent has answered since the owner had
    /// its first node, and no owner has a majority.
    ///
    /// After a node was kept, the silent nodes get their time once more. Otherwise the owner would keep offering the
    /// node as long as they are silent.
    pub(super) fn must_give_way(&self, now: Moment) -> bool {
        let silence = self.patience.with_silence;
        let may_be_silent = self.kept_at.is_none_or(|kept| now > kept + silence);
        let is_known = |place: &Place| {
            let is_stale = matches!(
                place.standing,
                Standing::Waiting {
                    view: View::Stale,
                    ..
                }
            );
            may_be_silent && place.is_silent(now, silence) || place.sent.is_none() && !is_stale
        };
        let held = self
            .places
            .iter()
            .filter(|place| self.is_held(place, now))
            .count();
        self.places.iter().all(is_known)
            && held < self.majority()
            && self.most_of_another(now) < self.majority()
    }

    /// Returns the largest number of nodes of any other owner. A node that is being asked may have changed hands, and
    /// does not count.
    pub(super) fn most_of_another(&self, now: Moment) -> usize {
        let silence = self.patience.with_silence;
        let is_known = |place: &&Place| place.sent.is_none() || place.is_silent(now, silence);
        let known = self.places.iter().filter(is_known);
        most(known.filter_map(Place::holder))
    }

    /// Notes since when another owner seems to have a majority. A node that is being asked changes nothing yet.
    pub(super) fn note_majority_of_another(&mut self, now: Moment) {
        let seemed_lost = || most(self.places.iter().filter_map(Place::holder)) >= self.majority();
        self.lost_since = match self.lost_since {
            Some(since) if seemed_lost() => Some(since),
            _ => (self.most_of_another(now) >= self.majority()).then_some(now),
        };
    }

    /// Returns until when a caller that only tries doubts that another owner has a majority; `None` if it believes
    /// that.
    ///
    /// The answers are from different times, and an owner that has not won may yet yield nodes. Otherwise two owners
    /// could each conclude that the other won, and both give up. An owner that never had a node came later, so it need
    /// not doubt.
    pub(super) fn doubts_until(&self, now: Moment) -> Option<Moment> {
        let only_tries = self.most_looks > LOOKS;
        let until = self.lost_since.unwrap_or(now) + self.patience.with_silence;
        (only_tries && self.had_a_node && now < until).then_some(until)
    }

    /// Returns whether to ask the other owners' nodes again now.
    pub(super) fn look_is_due(&mut self, now: Moment) -> bool {
        if !self.is_split(now) && self.doubts_until(now).is_none() {
            self.next_look = None;
            return false;
        }
        let pause = self.patience.before_look * (1 << self.looks.min(LOOKS));
        let look = *self.next_look.get_or_insert(now + pause);
        if look > now || self.looks >= self.most_looks {
            return false;
        }
        self.looks += 1;
        self.next_look = Some(now + pause * 2);
        true
    }
}

/// Returns the largest number of nodes of any holder.
fn most(holders: impl Iterator<Item = HolderId> + Clone) -> usize {
    let of = |holder| holders.clone().filter(|other| *other == holder).count();
    holders.clone().map(of).max().unwrap_or(0)
}
