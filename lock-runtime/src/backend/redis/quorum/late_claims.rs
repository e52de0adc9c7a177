//! Confirms nodes that a holder was granted after it had won.
//!
//! A waiter wins with the first majority of grants. Any further grant is a claim, which expires unless it is confirmed.
//! Then another waiter has that node, and the holder loses the lock if one more node fails. Most holders are done
//! before that. So a holder confirms its claims only if it still has the lock after a while, and confirms all of them
//! together.

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

/// The claims that wait for their confirmation.
#[derive(Default)]
pub(super) struct LateClaims(Mutex<Claims>);

#[derive(Default)]
struct Claims {
    /// In the order of their due times.
    due: VecDeque<(Instant, Weak<Candidate>, usize)>,
    /// Whether the background is scheduled to check.
    is_scheduled: bool,
}

impl LateClaims {
    /// Notes a holder's claims. Returns whether the background must be scheduled to check after `DELAY`.
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

    /// Returns the claims that are due, by node, and when more are due.
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
            // An owner that has ended needs no confirmation.
            let Some(ttl) = candidate.ballot.lock().confirms_claim(node) else {
                continue;
            };
            renewals.entry(node).or_default().push(Renewal {
                lease: None,
                owner_id: candidate.entry.owner_id,
                names: candidate.names.clone(),
                mode: Mode::Exclusive,
                extension: Extension { ttl, extends: true },
            });
        }
        (renewals, next)
    }
}
