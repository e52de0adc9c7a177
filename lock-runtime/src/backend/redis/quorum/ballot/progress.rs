//! The progress of an attempt, for the caller that waits for it.

use std::time::Duration;

use crate::backend::redis::quorum::ballot::place::{ClockState, Place, Reason};
use crate::backend::redis::quorum::ballot::{Ballot, Verdict};
use crate::backend::wire::reply::Waiting;
use crate::background::moment::Moment;
use crate::lease::record::Grant;

/// The progress of an attempt.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The owner has the lock.
    Granted { grant: Grant, at: Moment },
    /// There are not enough answers yet, or votes are split.
    Open,
    /// Another owner has the lock, or several owners have some of its nodes.
    Waits(Waiting),
    /// So many votes do not count that no majority is possible.
    TooFew,
}

impl Ballot {
    /// Evaluates the attempt. If `is_over`, it waits for nothing more.
    pub(crate) fn progress(&self, now: Moment, is_over: bool) -> Progress {
        match self.verdict(now) {
            Verdict::Has { grant, at } => return Progress::Granted { grant, at },
            // Commands that write the largest token back are due or in flight.
            Verdict::Unequal(_) if !is_over => return Progress::Open,
            Verdict::Unequal(_) | Verdict::Open => {}
        }
        let awaited = self.places.iter().filter(|place| place.sent.is_some());
        let is_silent = |place: &&Place| place.is_silent(now, self.patience.with_silence);
        let silent = awaited.clone().filter(is_silent).count();
        if !is_over && awaited.count() > silent {
            return Progress::Open;
        }
        let majority = self.majority();
        let held = self.places.iter().filter(|place| self.is_held(place, now));
        let held = held.count();
        let others = self.places.iter().filter(|place| place.is_of_another());
        let answered = held + others.count();
        if !is_over && answered < majority && silent > 0 {
            return Progress::Open;
        }
        if answered >= majority && self.most_of_another(now) >= majority {
            return match self.doubts_until(now) {
                Some(_) if !is_over => Progress::Open,
                _ => self.waits(now),
            };
        }
        let is_looking = self.is_split(now) && self.looks < self.most_looks;
        if !is_over && is_looking {
            return Progress::Open;
        }
        let is_kept = |place: &&Place| self.is_held(place, now) && !place.is_yielding();
        let kept = self.places.iter().filter(is_kept).count();
        // These votes may not count: too few clocks are known.
        if answered < majority || kept >= majority {
            return Progress::TooFew;
        }
        self.waits(now)
    }

    /// Describes the position of an owner that does not have the lock. The holder is the owner with most nodes, and the
    /// time is how long until enough nodes are free.
    fn waits(&self, now: Moment) -> Progress {
        let others = || {
            self.places
                .iter()
                .filter_map(|place| Some((place.holder()?, place.waiting()?)))
        };
        let nodes_of = |holder| others().filter(|(other, _)| *other == holder).count();
        let Some((_, most)) = others().max_by_key(|(holder, _)| nodes_of(*holder)) else {
            return Progress::TooFew;
        };
        let free = self
            .places
            .iter()
            .filter(|place| self.is_held(place, now))
            .count();
        let mut remaining: Vec<Duration> = others()
            .map(|(_, waiting)| waiting.remaining.unwrap_or(Duration::MAX))
            .collect();
        remaining.sort_unstable();
        let needed = self.majority().saturating_sub(free).max(1);
        let remaining = remaining.get(needed - 1).copied();
        let position = others()
            .map(|(_, waiting)| waiting.position)
            .filter(|&position| position > 0)
            .min();
        Progress::Waits(Waiting {
            remaining: remaining.filter(|&remaining| remaining < Duration::MAX),
            position: position.unwrap_or(0),
            ..most.clone()
        })
    }

    /// Returns when there may be something to do even if no node answers.
    pub(crate) fn next_time(&self, now: Moment) -> Option<Moment> {
        let silence = self.patience.with_silence;
        let places = self.places.iter();
        let silent = places.filter_map(|place| place.silent_at(silence));
        let look = self.next_look.filter(|_| self.looks < self.most_looks);
        let kept = self.kept_at.map(|kept| kept + silence);
        let doubt = self.lost_since.and_then(|_| self.doubts_until(now));
        silent
            .chain(look)
            .chain(kept)
            .chain(doubt)
            .filter(|&time| time > now)
            .min()
    }

    /// Returns the nodes whose vote does not count, with the reasons.
    pub(crate) fn reasons(&self) -> Vec<(usize, Reason)> {
        let reason = |place: &Place| {
            if place.held().is_some() && place.clock == ClockState::Unknown {
                return Some(Reason::ClockUnknown);
            }
            if place.held().is_some() || place.is_of_another() {
                return None;
            }
            let no_answer = || Reason::Failed("no answer".to_owned());
            Some(place.failure.clone().unwrap_or_else(no_answer))
        };
        let places = self.places.iter().enumerate();
        places
            .filter_map(|(node, place)| Some((node, reason(place)?)))
            .collect()
    }
}
