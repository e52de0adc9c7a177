//! Confirms nodes that were granted to a holder after it had won.
//!
//! A waiter wins with the first majority that is granted to it. Any further grant is a claim, which lapses unless it is
//! confirmed: then another waiter has that node, and the holder is lost if one more node fails. Most holders are done
//! before that. So only holders that still have the lock after a while confirm their claims, all together.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::candidate::Candidate;
use crate::backend::wire::Renewal;
use crate::background::sync::Mutex;
use crate::lease::Mode;
use crate::lease::schedule::Extension;

/// How long a holder has before its claims are confirmed: a third of a claim's time.
pub(super) const DELAY: Duration = Duration::from_millis(500);

/// The claims of holders that await confirmation.
#[derive(Default)]
pub(super) struct LateClaims(Mutex<Claims>);

#[derive(Default)]
struct Claims {
    /// In the order of their times.
    due: VecDeque<(Instant, Weak<Candidate>, usize)>,
    /// The background is scheduled to look.
    is_scheduled: bool,
}

impl LateClaims {
    /// Notes a holder's claims. Returns whether the background must look from `DELAY` on.
    pub(super) fn note(&self, candidate: &Arc<Candidate>) -> bool {
        let claims = candidate.ballot.lock().take_late_claims();
        if claims.is_empty() {
            return false;
        }
        let due = Instant::now() + DELAY;
        let mut late = self.0.lock();
        let claims = claims.into_iter();
        late.due
            .extend(claims.map(|node| (due, Arc::downgrade(candidate), node)));
        !mem::replace(&mut late.is_scheduled, true)
    }

    /// The claims that are due, by node, and when more are.
    pub(super) fn take_due(&self) -> (BTreeMap<usize, Vec<Renewal>>, Option<Instant>) {
        let now = Instant::now();
        let (due, next) = {
            let mut late = self.0.lock();
            let is_later = |claim: &(Instant, _, _)| claim.0 > now;
            let end = late.due.iter().position(is_later);
            let end = end.unwrap_or(late.due.len());
            let due: Vec<_> = late.due.drain(..end).collect();
            let next = late.due.front().map(|claim| claim.0);
            late.is_scheduled = next.is_some();
            (due, next)
        };
        let mut renewals: BTreeMap<usize, Vec<Renewal>> = BTreeMap::new();
        for (_, candidate, node) in due {
            let Some(candidate) = candidate.upgrade() else {
                continue;
            };
            // Claims of owners that have ended since need no confirmation.
            let Some(ttl) = candidate.ballot.lock().confirms_claim(node) else {
                continue;
            };
            renewals.entry(node).or_default().push(Renewal {
                owner_id: candidate.entry.owner_id,
                names: candidate.names.clone(),
                mode: Mode::Exclusive,
                extension: Extension { ttl, extends: true },
            });
        }
        (renewals, next)
    }
}
