//! Nodes that came to a holder after it had won.
//!
//! A waiter wins with the first majority that is given to it. What the other nodes give it is a claim, which lapses unless it
//! is confirmed: then another waiter has that node, and the holder is lost with one more. Most holders are done before. So
//! only those are confirmed that still hold the lock after a while, all together.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::nodes::Nodes;
use crate::backend::redis::renewals::write_renewals;
use crate::backend::wire::Renewal;
use crate::backend::wire::candidate::Candidate;
use crate::background::sync::Mutex;
use crate::lease::Mode;
use crate::lease::schedule::Extension;

/// How long a holder has before its claims are confirmed: a third of their time.
const DELAY: Duration = Duration::from_millis(500);

/// The claims of holders that are to be confirmed.
#[derive(Default)]
pub(super) struct LateClaims(Mutex<Claims>);

#[derive(Default)]
struct Claims {
    /// In the order of their times.
    due: VecDeque<(Instant, Weak<Candidate>, usize)>,
    /// The background is going to look.
    is_scheduled: bool,
}

impl LateClaims {
    /// Notes what has come to a holder.
    pub(super) fn note(&self, nodes: &Arc<Nodes>, candidate: &Arc<Candidate>) {
        let claims = candidate.ballot.lock().take_late_claims();
        if claims.is_empty() || nodes.background.check_process().is_err() {
            return;
        }
        let due = Instant::now() + DELAY;
        let is_scheduled = {
            let mut late = self.0.lock();
            let claims = claims.into_iter();
            late.due
                .extend(claims.map(|node| (due, Arc::downgrade(candidate), node)));
            mem::replace(&mut late.is_scheduled, true)
        };
        if !is_scheduled {
            let (nodes, background) = (Arc::downgrade(nodes), nodes.background.clone());
            background.clone().spawn(async move {
                let mut pause = DELAY;
                loop {
                    background.sleep(pause).await;
                    let Some(nodes) = nodes.upgrade() else { break };
                    match nodes.late_claims.confirm_due(&nodes) {
                        Some(next) => pause = next.saturating_duration_since(Instant::now()),
                        None => break,
                    }
                }
            });
        }
    }

    /// Confirms what is due. Returns when more is.
    fn confirm_due(&self, nodes: &Arc<Nodes>) -> Option<Instant> {
        let now = Instant::now();
        let mut due: Vec<(Weak<Candidate>, usize)> = Vec::new();
        let next = {
            let mut late = self.0.lock();
            let is_later = |claim: &(Instant, _, _)| claim.0 > now;
            let end = late.due.iter().position(is_later);
            let end = end.unwrap_or(late.due.len());
            due.extend(
                late.due
                    .drain(..end)
                    .map(|(_, candidate, node)| (candidate, node)),
            );
            let next = late.due.front().map(|claim| claim.0);
            late.is_scheduled = next.is_some();
            next
        };
        let mut renewals: BTreeMap<usize, Vec<Renewal>> = BTreeMap::new();
        for (candidate, node) in due {
            let Some(candidate) = candidate.upgrade() else {
                continue;
            };
            // Those that have ended since need none.
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
        for (node, renewals) in renewals {
            let nodes = nodes.clone();
            let background = nodes.background.clone();
            background.spawn(async move { confirm(&nodes, node, &renewals).await });
        }
        next
    }
}

/// Renews on one node what holders were given there. A renewal makes no record, so one that comes late does no harm. Its
/// answer counts for nothing: the next round of renewals asks all nodes.
async fn confirm(nodes: &Nodes, node: usize, renewals: &[Renewal]) {
    let all: Vec<&Renewal> = renewals.iter().collect();
    let until = nodes.until();
    drop(
        nodes
            .node(node)
            .renew(&all, write_renewals, None, until)
            .await,
    );
}
