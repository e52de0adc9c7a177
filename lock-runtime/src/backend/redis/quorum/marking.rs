//! The first command to each node: marks it, and learns what time it is there.

use std::sync::Arc;
use std::time::Instant;

use super::in_flight::InFlight;
use super::majority::LAST;
use super::nodes::Nodes;
use super::scripts::{MARK, parse_mark};
use crate::backend::redis::clock::CLOCK;
use crate::backend::redis::command::{self, Argument};
use crate::backend::redis::node_error::NodeError;
use crate::backend::wire::error::WireError;

/// Marks a node: from then on it is known whether it has lost data.
pub(super) async fn mark(nodes: &Nodes, node: usize, until: Instant) -> Result<(), WireError> {
    let marked = try_mark(nodes, node, until).await;
    if let Err(error) = &marked {
        nodes.health(node).failed(error);
    }
    marked
}

async fn try_mark(nodes: &Nodes, node: usize, until: Instant) -> Result<(), WireError> {
    if let Some(error) = nodes.node(node).put_off() {
        return Err(error);
    }
    let connected = nodes.node(node).connect(until).await;
    let connection = connected.map_err(NodeError::into_wire)?;
    let command = [
        Argument::Text("EVAL"),
        Argument::Text(MARK),
        Argument::Number(1),
        Argument::Text(&nodes.marker),
        Argument::Text(connection.boot()),
        Argument::Number(nodes.delay_ms()),
    ];
    let write = |output: &mut Vec<u8>| command::write(output, &command);
    let sent = CLOCK.now();
    let answer = nodes.node(node).send_on(&connection, write, until).await;
    let (_, node_now) = parse_mark(&answer.map_err(NodeError::into_wire)?)?;
    // Whether a clock is off is judged once others were heard.
    if nodes.check_clock(node, sent, CLOCK.now(), node_now).is_ok() {
        nodes.health(node).is_reached();
    }
    Ok(())
}

/// Marks all nodes, and waits until a majority has said what time it is, if it does. A caller then has a place in the order
/// of waiters that all nodes accept, and a clock that is off is known before its node votes.
///
/// Takes no more than half of the time until `until`, so that the caller's own commands have the rest.
pub(super) async fn hear(nodes: &Arc<Nodes>, until: Instant) {
    let now = Instant::now();
    let until = now + until.saturating_duration_since(now) / 2;
    let mut in_flight = InFlight::default();
    for node in 0..nodes.len() {
        let nodes = nodes.clone();
        let marking = async move { drop(mark(&nodes, node, until).await) };
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
