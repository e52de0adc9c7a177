//! The end of an owner on each node, until nothing of it is left there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::in_flight::{InFlight, NodeTask};
use super::nodes::Nodes;
use crate::backend::redis::command::Argument;
use crate::backend::redis::node::{Purpose, ScriptCall, SendEvent};
use crate::backend::redis::node_error::NodeError;
use crate::backend::redis::scripts::{Scripts, parse_end_reply, parse_release_reply};
use crate::backend::redis::shortcut::Shortcut;
use crate::backend::wire::ballot::ending::Ending;
use crate::backend::wire::candidate::Candidate;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::EndReply;
use crate::backend::wire::settling::Settling;
use crate::background::random;
use crate::lease::Mode;

/// Ends an owner on all nodes, and waits until it is known what that amounts to. A waiter is known if `contended`.
///
/// What is left after that, or when this is dropped, is the background's. Called again, it waits for what was unknown.
pub(super) async fn end(
    nodes: &Arc<Nodes>,
    candidate: &Arc<Candidate>,
    contended: bool,
) -> Result<EndReply, WireError> {
    let until = nodes.until();
    let owner_id = candidate.entry.owner_id;
    nodes.late.look_at(&nodes.background, owner_id);
    let begun = begin(nodes, candidate, contended);
    if begun.is_none() {
        candidate.ballot.lock().await_ends_again();
    }
    let mut ends = Ends {
        nodes,
        in_flight: begun.unwrap_or_default(),
    };
    let mut is_sent = false;
    loop {
        let ended = candidate.ballot.lock().ended();
        if let Some(ended) = ended {
            if is_sent {
                let in_flight = &mut ends.in_flight;
                nodes.late.leave(&nodes.background, owner_id, in_flight);
            }
            return ended;
        }
        let something = async {
            tokio::select! {
                biased;
                () = ends.in_flight.any() => {}
                () = candidate.changed.notified() => {}
            }
        };
        let timers = nodes.background.timers();
        is_sent = true;
        if timers.timeout_at(until, something).await.is_err() {
            let ended = candidate.ballot.lock().ended();
            let unknown = || Err(WireError::unavailable("too few nodes answered the release"));
            return ended.unwrap_or_else(unknown);
        }
    }
}

/// Ends an owner on all nodes in the background.
pub(super) fn abandon(nodes: &Arc<Nodes>, candidate: &Arc<Candidate>) {
    if let Some(mut begun) = begin(nodes, candidate, true) {
        begun.leave(&nodes.background);
    }
}

/// Ends an owner on one node once more: a command of it came after its end.
pub(super) fn end_again(nodes: &Arc<Nodes>, candidate: &Arc<Candidate>, node: usize) {
    candidate.ballot.lock().place_mut(node).is_revived = false;
    let proposal = nodes.guess();
    let end = (Ending::End, proposal);
    let task = settle(nodes.clone(), candidate.clone(), node, end);
    nodes.background.spawn(task);
}

/// The end of an owner on each node where something of it may be; `None` if it was ended before.
fn begin(nodes: &Arc<Nodes>, candidate: &Arc<Candidate>, contended: bool) -> Option<InFlight> {
    let endings = candidate.ballot.lock().end()?;
    // The same on all nodes, so that the next owner has one token everywhere.
    let proposal = nodes.guess();
    let mut begun = InFlight::default();
    for (node, ending) in endings {
        let ending = if contended { Ending::End } else { ending };
        let end = (ending, proposal);
        begun.push(node, settle(nodes.clone(), candidate.clone(), node, end));
    }
    Some(begun)
}

/// The ends that are under way.
struct Ends<'a> {
    nodes: &'a Arc<Nodes>,
    in_flight: InFlight,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.in_flight.leave(&self.nodes.background);
    }
}

/// Ends an owner on one node, and repeats that for as long as it may be needed.
fn settle(
    nodes: Arc<Nodes>,
    candidate: Arc<Candidate>,
    node: usize,
    (mut ending, proposal): (Ending, u64),
) -> NodeTask {
    // Counted here and not in the task: a shutdown may look before the task is run.
    let mut counted = Some(nodes.unsettled.one());
    Box::pin(async move {
        let mut settling: Option<Settling> = None;
        loop {
            let is_last = settling.is_some_and(|settling| settling.is_last(Instant::now()));
            let ended = end_at(&nodes, &candidate, node, ending, proposal).await;
            if let Ok(EndReply::Contended) = ended {
                ending = Ending::End;
                continue;
            }
            nodes.health(node).note(std::slice::from_ref(&ended));
            let (pause, is_unanswered) = note_end(&candidate, node, ended, &mut settling);
            candidate.changed.notify_one();
            let is_decided = candidate
                .ballot
                .lock()
                .ended()
                .is_some_and(|ended| ended.is_ok());
            // A shutdown does not wait for a minority that is silent.
            if !is_unanswered || is_last || is_decided {
                counted = None;
            }
            match pause.filter(|_| is_unanswered || !is_last) {
                Some(pause) => nodes.background.sleep(pause).await,
                None => break,
            }
            // What the node holds is not known any more.
            ending = Ending::End;
        }
        drop(counted);
    })
}

/// Notes the answer to an end. Returns when the next one is due, if any, and whether this one was not answered.
fn note_end(
    candidate: &Candidate,
    node: usize,
    ended: Result<EndReply, WireError>,
    settling: &mut Option<Settling>,
) -> (Option<Duration>, bool) {
    let now = Instant::now();
    let mut ballot = candidate.ballot.lock();
    let outstanding = &ballot.place_mut(node).outstanding;
    let is_unanswered = match &ended {
        Ok(_) => false,
        Err(WireError::Unavailable(_)) => true,
        Err(WireError::Refused(_)) => outstanding.may_hold(),
    };
    let settling = settling.get_or_insert_with(|| Settling::begin(outstanding, now));
    let pause = settling.pause(outstanding, is_unanswered, now, random::jitter);
    ballot.note_end(node, ended);
    (pause, is_unanswered)
}

async fn end_at(
    nodes: &Nodes,
    candidate: &Candidate,
    node: usize,
    ending: Ending,
    proposal: u64,
) -> Result<EndReply, WireError> {
    let note = |event: SendEvent| {
        let mut ballot = candidate.ballot.lock();
        let outstanding = &mut ballot.place_mut(node).outstanding;
        match event {
            SendEvent::Sending(on) => outstanding.ending(on),
            SendEvent::Unsent(_) | SendEvent::Answered(_) | SendEvent::Refused(_) => {
                outstanding.ending_is_known();
            }
        }
    };
    let (entry, names, until) = (&candidate.entry, &candidate.names, nodes.until());
    let (node, marker) = (nodes.node(node), &nodes.marker);
    match ending {
        Ending::Release(grant) => {
            let call = ScriptCall {
                script: &Scripts::of(Mode::Exclusive, names).release,
                names,
                arguments: &[Argument::Text(entry.owner_id.as_str())],
                shortcut: Some(Shortcut::Release {
                    entry,
                    number: grant.token,
                }),
            };
            let answered = node.run(Purpose::End, &call, until, note).await;
            parse_release_reply(&answered.map_err(NodeError::into_wire)?.answer)
        }
        Ending::End => {
            let call = ScriptCall {
                script: &nodes.scripts.end,
                names,
                arguments: &[
                    Argument::Text(marker),
                    Argument::Entry(entry),
                    Argument::Number(i64::try_from(proposal).unwrap_or(0)),
                    Argument::Boot,
                    Argument::Number(nodes.delay_ms()),
                ],
                shortcut: None,
            };
            let answered = node.run(Purpose::End, &call, until, note).await;
            parse_end_reply(&answered.map_err(NodeError::into_wire)?.answer)
        }
    }
}
