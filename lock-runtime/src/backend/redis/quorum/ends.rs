//! Ends an owner on each node, until nothing of it is left there.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::ballot::first_end::FirstEnd;
use super::candidate::Candidate;
use super::node_tasks::{NodeTask, NodeTasks};
use super::quorum_nodes::QuorumNodes;
use crate::backend::engine::ending::{Command, Ending, Then};
use crate::backend::engine::event_of;
use crate::backend::redis::encoder::Argument;
use crate::backend::redis::node::{NodeError, Purpose, ScriptCall};
use crate::backend::redis::scripts::{Scripts, parse_end_reply, parse_release_reply};
use crate::backend::redis::shortcut::Shortcut;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::SendEvent;
use crate::backend::wire::reply::EndReply;
use crate::background::clock::SETTLING;
use crate::background::in_flight::Counted;
use crate::background::random;
use crate::lease::Mode;
use crate::lease::record::Grant;

/// Ends an owner on all nodes, and waits until the outcome is known. `contended` means that a waiter is known.
///
/// The background finishes what is left after that, or when this is dropped. A second call waits for the unknown
/// outcomes.
pub(super) async fn end(
    nodes: &Arc<QuorumNodes>,
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
pub(super) fn abandon(nodes: &Arc<QuorumNodes>, candidate: &Arc<Candidate>) {
    if let Some(mut begun) = begin(nodes, candidate, true) {
        begun.leave(&nodes.background);
    }
}

/// Once more ends an owner on one node, because one of its commands came after its end.
pub(super) fn end_again(nodes: &Arc<QuorumNodes>, candidate: &Arc<Candidate>, node: usize) {
    let end = NodeEnd {
        node,
        held: None,
        proposal: nodes.guess(),
    };
    nodes
        .background
        .spawn(settle(nodes.clone(), candidate.clone(), end));
}

/// Begins the end of an owner on each node that may have something of it. Returns `None` if the owner was ended before.
fn begin(
    nodes: &Arc<QuorumNodes>,
    candidate: &Arc<Candidate>,
    contended: bool,
) -> Option<NodeTasks> {
    let endings = candidate.ballot.lock().end()?;
    // The same on all nodes, so that the next owner gets one token everywhere.
    let proposal = nodes.guess();
    let mut begun = NodeTasks::default();
    for (node, first) in endings {
        let held = match first {
            FirstEnd::Release(grant) if !contended => Some(grant),
            FirstEnd::Release(_) | FirstEnd::End => None,
        };
        let end = NodeEnd {
            node,
            held,
            proposal,
        };
        begun.push(node, settle(nodes.clone(), candidate.clone(), end));
    }
    Some(begun)
}

/// The ends in flight.
struct Ends<'a> {
    nodes: &'a Arc<QuorumNodes>,
    in_flight: NodeTasks,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.in_flight.leave(&self.nodes.background);
    }
}

/// The end of an owner on one node.
struct NodeEnd {
    node: usize,
    /// The owner's vote there, if no waiter is known.
    held: Option<Grant>,
    /// The token that is proposed for the next owner.
    proposal: u64,
}

/// An owner whose end a node has not answered, and the state of that end.
pub(super) struct UnendedOwner {
    candidate: Arc<Candidate>,
    end: NodeEnd,
    ending: Ending,
}

/// How often an owner that is kept is ended, in case that nothing else needs a connection.
const RETRY: Duration = Duration::from_secs(5);

/// Ends all owners that are kept for a node, since there is another connection: one after the other, since callers need
/// it, too.
pub(super) fn connected(nodes: &Arc<QuorumNodes>, node: usize) {
    let owners = nodes.unended[node].take();
    if owners.is_empty() {
        return;
    }
    let ender = nodes.clone();
    nodes.background.spawn(async move {
        for owner in owners {
            owner.settle(&ender).await;
        }
    });
}

/// Keeps an owner until there is another connection to its node.
fn keep(nodes: &Arc<QuorumNodes>, owner: UnendedOwner) {
    let node = owner.end.node;
    if nodes.unended[node].keep(owner) {
        nodes.background.spawn(retry(Arc::downgrade(nodes), node));
    }
}

/// Ends one owner that is kept every now and then, which also makes a connection, until none is left.
async fn retry(nodes: Weak<QuorumNodes>, node: usize) {
    loop {
        let pause = RETRY.mul_f64(0.8 + 0.4 * random::jitter());
        tokio::time::sleep(pause).await;
        let Some(nodes) = nodes.upgrade() else {
            return;
        };
        let Some((owner, _retry)) = nodes.unended[node].retry_first() else {
            return;
        };
        owner.settle(&nodes).await;
    }
}

impl UnendedOwner {
    /// Ends it. No shutdown waits for that.
    fn settle(self, nodes: &Arc<QuorumNodes>) -> NodeTask {
        let UnendedOwner {
            candidate,
            end,
            ending,
        } = self;
        settle_from(nodes.clone(), candidate, end, ending, None)
    }
}

/// Ends an owner on one node, repeatedly if necessary.
fn settle(nodes: Arc<QuorumNodes>, candidate: Arc<Candidate>, end: NodeEnd) -> NodeTask {
    let ending = Ending::of_node(end.held.is_none());
    // Counted here, not in the task, since a shutdown may check the count before the task runs.
    let counted = nodes.unsettled.one();
    settle_from(nodes, candidate, end, ending, Some(counted))
}

fn settle_from(
    nodes: Arc<QuorumNodes>,
    candidate: Arc<Candidate>,
    end: NodeEnd,
    mut ending: Ending,
    mut counted: Option<Counted>,
) -> NodeTask {
    Box::pin(async move {
        let mut command = ending.command(|| SETTLING.now());
        loop {
            let ended = end_at(&nodes, &candidate, &end, command).await;
            nodes.health(end.node).note(std::slice::from_ref(&ended));
            command = match note_end(&candidate, end.node, ended, &mut ending) {
                Then::Send(command) => command,
                then => {
                    candidate.changed.notify_one();
                    // A shutdown does not wait for a silent minority.
                    if !ending.is_awaited() || is_decided(&candidate) {
                        counted = None;
                    }
                    let pause = match then {
                        Then::Pause(pause) => pause,
                        Then::Keep => {
                            keep(
                                &nodes,
                                UnendedOwner {
                                    candidate: candidate.clone(),
                                    end,
                                    ending,
                                },
                            );
                            break;
                        }
                        _ => break,
                    };
                    nodes.background.sleep(pause).await;
                    ending.command(|| SETTLING.now())
                }
            };
        }
        drop(counted);
    })
}

/// Notes the outcome of a command. Returns how the end continues.
fn note_end(
    candidate: &Candidate,
    node: usize,
    ended: Result<EndReply, WireError>,
    ending: &mut Ending,
) -> Then {
    let event = event_of(&ended);
    let mut ballot = candidate.ballot.lock();
    let owner = &ballot.place_mut(node).outstanding;
    let then = ending
        .on(event, owner, || SETTLING.now(), random::jitter)
        .then;
    // Otherwise a waiter queues, and the next command hands the lock off.
    if !matches!(then, Then::Send(_)) {
        ballot.note_end(node, ended);
    }
    then
}

/// Returns whether enough nodes have answered.
fn is_decided(candidate: &Candidate) -> bool {
    let ended = candidate.ballot.lock().ended();
    ended.is_some_and(|ended| ended.is_ok())
}

async fn end_at(
    nodes: &QuorumNodes,
    candidate: &Candidate,
    end: &NodeEnd,
    command: Command,
) -> Result<EndReply, WireError> {
    let mut note = |event: SendEvent| {
        let mut ballot = candidate.ballot.lock();
        ballot.place_mut(end.node).outstanding.note_end(event);
    };
    let (entry, names, until) = (&candidate.entry, &candidate.names, nodes.until());
    let (node, marker) = (nodes.node(end.node), &nodes.marker);
    match (command, end.held) {
        (Command::Release, Some(grant)) => {
            let call = ScriptCall {
                script: &Scripts::of(Mode::Exclusive, names).release,
                names,
                arguments: &[Argument::Text(entry.owner_id.as_str())],
                shortcut: Some(Shortcut::Release {
                    entry,
                    number: grant.token,
                }),
                trial: None,
            };
            let answered = node.run(Purpose::End, &call, until, &mut note).await;
            parse_release_reply(&answered.map_err(NodeError::into_wire)?.answer)
        }
        _ => {
            let call = ScriptCall {
                script: &nodes.scripts.end,
                names,
                arguments: &[
                    Argument::Text(marker),
                    Argument::Entry(entry),
                    Argument::Number(i64::try_from(end.proposal).unwrap_or(0)),
                    Argument::Boot,
                    Argument::Number(nodes.delay_ms()),
                ],
                shortcut: None,
                trial: None,
            };
            let answered = node.run(Purpose::End, &call, until, &mut note).await;
            parse_end_reply(&answered.map_err(NodeError::into_wire)?.answer)
        }
    }
}
