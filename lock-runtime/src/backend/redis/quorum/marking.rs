//! The first command to each node, which marks the node and reads its clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counting;
use super::majority::LAST;
use super::node_tasks::NodeTasks;
use super::quorum_nodes::QuorumNodes;
use super::quorum_scripts::parse_mark;
use crate::backend::redis::CLOCK;
use crate::backend::redis::encoder::{self, Argument, millis};
use crate::backend::redis::node::NodeError;
use crate::backend::redis::sources;
use crate::backend::wire::error::WireError;

/// The interval of a client's reports to a node. If the client ends, the count loses at most this much.
const STEP: Duration = Duration::from_secs(1);

/// The minimum interval, whatever the node answers.
const SHORTEST_STEP: Duration = Duration::from_millis(50);

/// Marks a node, so that a loss of its data will be noticed. If the node does not vote yet, it counts until it does.
/// Returns how long that takes.
pub(super) async fn mark(
    nodes: &Arc<QuorumNodes>,
    node: usize,
    until: Instant,
) -> Result<Duration, WireError> {
    let marked = try_mark(nodes, node, until).await;
    match &marked {
        // The user may be one that only looks at locks. A lock that it tries to take reports the refusal.
        Err(error) if error.is_of_a_missing_permission() => nodes.health(node).is_reached(),
        Err(error) => nodes.health(node).failed(error),
        Ok(_) => {}
    }
    marked
}

async fn try_mark(
    nodes: &Arc<QuorumNodes>,
    node: usize,
    until: Instant,
) -> Result<Duration, WireError> {
    if let Some(error) = nodes.node(node).put_off() {
        return Err(error);
    }
    let connected = nodes.node(node).connect(until).await;
    let connection = connected.map_err(NodeError::into_wire)?;
    let new = counting::new_name()?;
    let sent = CLOCK.now();
    let (known, waited) = {
        let counting = nodes.counts[node].lock();
        let claim = counting.claim(sent);
        claim.map_or((String::new(), 0), |(name, waited)| {
            (name.to_owned(), millis(waited))
        })
    };
    let command = [
        Argument::Text("EVAL"),
        Argument::Text(sources::QUORUM_MARK),
        Argument::Number(1),
        Argument::Text(&nodes.marker),
        Argument::Text(connection.boot()),
        Argument::Number(nodes.delay_ms()),
        Argument::Text(&new),
        Argument::Text(&known),
        Argument::Number(waited),
    ];
    let write = |output: &mut Vec<u8>| encoder::write(output, &command);
    let answer = nodes.node(node).send_on(&connection, &write, until).await;
    let marked = parse_mark(&answer.map_err(NodeError::into_wire)?)?;
    let now = CLOCK.now();
    nodes.counts[node].lock().note(&marked, now);
    // Clocks are judged once other nodes have reported, too.
    if nodes.check_clock(node, sent, now, marked.now).is_ok() {
        nodes.health(node).is_reached();
    }
    Ok(marked.left)
}

/// Like [`mark`], but also makes the background count until the node votes.
pub(super) async fn mark_and_count(
    nodes: &Arc<QuorumNodes>,
    node: usize,
    until: Instant,
) -> Result<(), WireError> {
    let left = mark(nodes, node, until).await?;
    if !left.is_zero() {
        count(nodes, node);
    }
    Ok(())
}

/// Makes the background count until a node votes, unless it does so already.
pub(super) fn count(nodes: &Arc<QuorumNodes>, node: usize) {
    if !nodes.counts[node].lock().starts() {
        return;
    }
    let (nodes, background) = (Arc::downgrade(nodes), nodes.background.clone());
    background.clone().spawn(async move {
        while let Some(nodes) = nodes.upgrade() {
            let pause = match mark(&nodes, node, nodes.until()).await {
                Ok(left) if left.is_zero() => {
                    nodes.counts[node].lock().stops();
                    break;
                }
                Ok(left) => left.clamp(SHORTEST_STEP, STEP),
                // The node may be restarting. It continues to count when it is back.
                Err(_) => STEP,
            };
            drop(nodes);
            background.sleep(pause).await;
        }
    });
}

/// Marks all nodes, and waits until a majority has reported its time, or the time is up. A caller then has a place in
/// the order of waiters that all nodes accept, and a clock that is off is known before its node votes.
///
/// Takes at most half of the time until `until`, which leaves the other half for the caller's own commands.
pub(super) async fn hear(nodes: &Arc<QuorumNodes>, until: Instant) {
    let now = Instant::now();
    let until = now + until.saturating_duration_since(now) / 2;
    let mut in_flight = NodeTasks::default();
    for node in 0..nodes.len() {
        let nodes = nodes.clone();
        let marking = async move { drop(mark_and_count(&nodes, node, until).await) };
        in_flight.push(node, Box::pin(marking));
    }
    let timers = nodes.background.timers();
    let majority = async {
        while !in_flight.is_empty() && !nodes.clocks.lock().is_heard() {
            in_flight.any().await;
        }
    };
    let _ = timers.timeout_at(until, majority).await;
    let last = async {
        while !in_flight.is_empty() {
            in_flight.any().await;
        }
    };
    let _ = timers
        .timeout_at(until.min(Instant::now() + LAST), last)
        .await;
    nodes.compare_clocks();
}
