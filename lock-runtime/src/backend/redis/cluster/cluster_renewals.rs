//! Renews leases on many nodes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cluster_node::ClusterNode;
use super::route::{Next, Route, unsettled};
use super::router::{Router, left};
use crate::backend::redis::node::renew::lease_is_over;
use crate::backend::redis::node::{NodeError, ScriptCall};
use crate::backend::redis::redirect::Redirect;
use crate::backend::redis::renewals::{self, write_renewals};
use crate::backend::redis::scripts;
use crate::backend::redis::side_by_side::side_by_side;
use crate::backend::wire::Renewal;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::key::slot_of;
use crate::lease::record::Grant;

/// The number of rounds. The first sends to the nodes that had the locks, the others to the nodes that these named.
const ROUNDS: u32 = 4;

type Renewed = Result<Answered<Option<Grant>>, WireError>;

/// Extends leases with one pipeline for each node, in parallel. Renewals that were redirected, or that a node could not
/// carry out right now, are sent again.
pub(super) async fn renew(router: &Router, renewals: &[Renewal]) -> Vec<Renewed> {
    let until = router.until();
    let mut results = vec![Err(WireError::unavailable("it was not sent")); renewals.len()];
    let mut routes: Vec<Route> = renewals.iter().map(|_| Route::default()).collect();
    let mut open: Vec<usize> = (0..renewals.len()).collect();
    for _ in 0..ROUNDS {
        let mut by_node: Vec<(Arc<ClusterNode>, Vec<usize>)> = Vec::new();
        for index in open {
            let slot = slot_of(&renewals[index].names.first().lock);
            let node = match router.node_of(slot, until).await {
                Ok(node) => node,
                Err(error) => {
                    results[index] = Err(error);
                    continue;
                }
            };
            let mut batches = by_node.iter_mut();
            match batches.find(|(other, _)| Arc::ptr_eq(other, &node)) {
                Some((_, batch)) => batch.push(index),
                None => by_node.push((node, vec![index])),
            }
        }
        let sent = by_node.into_iter().map(|(node, batch)| async move {
            let all: Vec<&Renewal> = batch.iter().map(|&index| &renewals[index]).collect();
            let slot = slot_of(&all[0].names.first().lock);
            let renewing = node.renew(&all, write_renewals, None, until);
            let renewed = router.unless_moved(slot, &node, until, renewing).await;
            let renewed = renewed.unwrap_or_else(|| all.iter().map(|_| Err(left(&node))).collect());
            (node, batch, renewed)
        });
        let (mut again, mut longest) = (Vec::new(), Duration::ZERO);
        for (node, batch, renewed) in side_by_side(sent).await {
            for (index, renewed) in batch.into_iter().zip(renewed) {
                let route = &mut routes[index];
                let mut next = renewed.map_err(|error| router.after(route, &node, error));
                if let Err(Next::Ask(redirect, _)) = &next {
                    let asked = renew_asking(router, &renewals[index], redirect, &node, until);
                    next = asked
                        .await
                        .map_err(|error| router.after(route, &node, error));
                }
                results[index] = match next {
                    Ok(answered) => Ok(answered),
                    Err(Next::Fail(error)) => Err(error),
                    // Two nodes have given the slot away, each to another node.
                    Err(Next::Ask(redirect, pause)) => {
                        again.push(index);
                        longest = longest.max(pause);
                        Err(unsettled(redirect.slot))
                    }
                    Err(Next::Moved(redirect, pause)) => {
                        again.push(index);
                        longest = longest.max(pause);
                        let noted = router.note_moved(&redirect, &node);
                        Err(noted.err().unwrap_or_else(|| unsettled(redirect.slot)))
                    }
                    Err(Next::Again(error, pause)) => {
                        again.push(index);
                        longest = longest.max(pause);
                        Err(error)
                    }
                    Err(Next::Refresh(error, pause)) => {
                        again.push(index);
                        router.note_failed(&node);
                        longest = longest.max(pause);
                        Err(error)
                    }
                };
            }
        }
        open = again;
        if open.is_empty() || !router.pause(longest, until).await {
            break;
        }
    }
    results
}

/// Extends a lease whose slot is moving, on the node that already has the lock.
async fn renew_asking(
    router: &Router,
    renewal: &Renewal,
    redirect: &Redirect,
    by: &ClusterNode,
    until: Instant,
) -> Result<Answered<Option<Grant>>, NodeError> {
    let node = router.nodes.named(redirect, by).map_err(NodeError::Gone)?;
    node.connect(until).await?;
    if renewal.is_over() {
        return Err(NodeError::Final(lease_is_over()));
    }
    let (script, arguments) = renewals::renewal(renewal);
    let call = ScriptCall {
        script,
        names: &renewal.names,
        arguments: &arguments,
        shortcut: None,
        trial: None,
    };
    let Answered { at, answer } = node.run_asking(&call, until, &mut |_| {}).await?;
    let answer = scripts::parse_renew_reply(&answer).map_err(NodeError::Final)?;
    Ok(Answered { at, answer })
}
