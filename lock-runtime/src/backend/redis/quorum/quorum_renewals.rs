//! Renews leases on all nodes. A node that has lost a holder's record gets it again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::attempt::note;
use super::ballot::Phase;
use super::quorum_nodes::QuorumNodes;
use super::quorum_scripts::parse_hold;
use super::votes::{Outcome, Vote, Votes};
use super::{ends, marking};
use crate::backend::redis::CLOCK;
use crate::backend::redis::encoder::{Argument, millis};
use crate::backend::redis::node::{NodeError, Purpose, ScriptCall};
use crate::backend::redis::renewals::write_renewals;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{Renewal, RenewalOutcome};
use crate::background::moment::Moment;
use crate::background::sync::Mutex;
use crate::lease::fencing_token::FencingToken;
use crate::lease::schedule::is_fresh;

/// How long after the last possible answer a round is given up.
const GRACE: Duration = Duration::from_secs(1);

/// Extends leases on all nodes, with one pipeline for each node. Reports each outcome as soon as it is known: a lease
/// that depends on a slow node waits for that node, but a lease that a majority has confirmed does not.
pub(super) async fn renew(
    nodes: &Arc<QuorumNodes>,
    renewals: &[Renewal],
    mut report: impl FnMut(usize, RenewalOutcome) + Send,
) {
    let until = nodes.until();
    let round = Arc::new(Round {
        votes: Mutex::new(renewals.iter().map(|_| Votes::new(nodes.len())).collect()),
        renewals: renewals.into(),
        changed: Notify::new(),
    });
    for node in 0..nodes.len() {
        let (nodes, round) = (nodes.clone(), round.clone());
        let background = nodes.background.clone();
        background.spawn(async move { renew_at(&nodes, &round, node, until).await });
    }
    let timers = nodes.background.timers();
    let mut unknown: Vec<usize> = (0..renewals.len()).collect();
    let mut is_over = false;
    while !unknown.is_empty() {
        for (number, outcome) in round.take_known(nodes, &mut unknown, is_over) {
            report(number, outcome);
        }
        if !unknown.is_empty() {
            // Every command ends by then.
            let changed = timers.timeout_at(until + GRACE, round.changed.notified());
            is_over = changed.await.is_err();
        }
    }
}

/// The renewals of one round.
struct Round {
    renewals: Box<[Renewal]>,
    votes: Mutex<Vec<Votes>>,
    changed: Notify,
}

impl Round {
    /// Removes the renewals with a known outcome from `unknown`, and returns the outcomes. If `is_over`, all outcomes
    /// are known.
    fn take_known(
        &self,
        nodes: &QuorumNodes,
        unknown: &mut Vec<usize>,
        is_over: bool,
    ) -> Vec<(usize, RenewalOutcome)> {
        let votes = self.votes.lock();
        let mut known = Vec::new();
        unknown.retain(|&number| {
            let votes = &votes[number];
            let outcome = match votes.outcome() {
                Some(Outcome::Confirmed(Answered { at, answer })) => Ok(Answered {
                    at,
                    answer: Some(answer),
                }),
                Some(Outcome::Lost) => Ok(Answered {
                    at: CLOCK.now(),
                    answer: None,
                }),
                None if !is_over => return true,
                Some(Outcome::TooFew) | None => Err(nodes.too_few(&votes.reasons())),
            };
            known.push((number, outcome));
            false
        });
        known
    }
}

/// Renews all leases of a round on one node.
async fn renew_at(nodes: &Arc<QuorumNodes>, round: &Arc<Round>, node: usize, until: Instant) {
    let all: Vec<&Renewal> = round.renewals.iter().collect();
    let renewed = nodes
        .node(node)
        .renew(&all, write_renewals, None, until)
        .await;
    let renewed = renewed.into_iter();
    let renewed: Vec<RenewalOutcome> = renewed
        .map(|renewed| renewed.map_err(NodeError::into_wire))
        .collect();
    nodes.health(node).note(&renewed);
    let vote = |renewed: RenewalOutcome| match renewed {
        Ok(Answered {
            at,
            answer: Some(answer),
        }) => Vote::Yes(Answered { at, answer }),
        Ok(_) => Vote::No,
        Err(error) => Vote::Failed(error),
    };
    let absent: Vec<_> = {
        let mut votes = round.votes.lock();
        let votes = votes.iter_mut().zip(renewed).enumerate();
        votes
            .flat_map(|(number, (votes, renewed))| {
                votes.note(node, vote(renewed));
                let deadline = match votes.outcome() {
                    Some(Outcome::Confirmed(answered)) => Some(answered.at),
                    _ => None,
                };
                let absent = votes.take_absent().into_iter();
                absent.filter_map(move |node| Some((number, node, deadline?)))
            })
            .collect()
    };
    round.changed.notify_one();
    for (number, node, at) in absent {
        let (nodes, round) = (nodes.clone(), round.clone());
        let background = nodes.background.clone();
        // Counted here, not in the task, since a shutdown may check the count before the task runs.
        let counted = nodes.unsettled.one();
        background.spawn(async move {
            restore(&nodes, &round.renewals[number], node, at).await;
            drop(counted);
        });
    }
}

/// Rewrites a holder's record on a node that lost it. A majority has confirmed the lease, in answer to commands sent at
/// `at`: an owner that is not known to hold the lock never rewrites its record.
async fn restore(nodes: &Arc<QuorumNodes>, renewal: &Renewal, node: usize, at: Moment) {
    let ttl = renewal.extension.ttl;
    let Some(candidate) = nodes.candidate_of(renewal.owner_id) else {
        return;
    };
    let until = nodes.until();
    // Connects first, since this may take as long as the lease lasts.
    if nodes.node(node).connect(until).await.is_err() {
        return;
    }
    let Phase::Holds(token) = candidate.ballot.lock().phase() else {
        return;
    };
    if !is_fresh(CLOCK.now(), at, ttl) {
        return;
    }
    // The node may have lost more than this record.
    marking::count(nodes, node);
    let token = format!("{:0digits$}", token.get(), digits = FencingToken::DIGITS);
    let call = ScriptCall {
        script: &nodes.scripts.hold,
        names: &candidate.names,
        arguments: &[
            Argument::Text(&nodes.marker),
            Argument::Entry(&candidate.entry),
            Argument::Number(millis(ttl)),
            Argument::Text(&token),
            Argument::Boot,
            Argument::Number(nodes.delay_ms()),
        ],
        shortcut: None,
        trial: None,
    };
    let mut note = |event| note(&candidate, node, ttl, false, event);
    let answered = nodes
        .node(node)
        .run(Purpose::Acquire, &call, until, &mut note)
        .await;
    let mut ballot = candidate.ballot.lock();
    if let Ok(answered) = answered
        && let Ok(Some(grant)) = parse_hold(&answered.answer)
    {
        ballot.restored(node, grant, answered.at);
    }
    let is_revived = ballot.place_mut(node).take_revived();
    drop(ballot);
    if is_revived {
        ends::end_again(nodes, &candidate, node);
    }
}
