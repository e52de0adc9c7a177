//! Refreshes the slot map when there are signs that it is stale, never by a timer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use super::cluster_node::ClusterNode;
use super::nodes::Nodes;
use super::slots_reply::{self, SlotsReply, are_complete};
use crate::backend::redis::connect::Settings;
use crate::backend::redis::encoder::Argument;
use crate::backend::redis::node::NodeError;
use crate::backend::wire::error::WireError;
use crate::background::sync::Mutex;

/// The shortest time between two refreshes, since many callers see the same sign.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);

/// How long one node may take before the next one is asked in parallel.
const SHARE: Duration = Duration::from_millis(250);

/// Runs at most one refresh at a time, for all callers.
pub(super) struct Refresher {
    nodes: Arc<Nodes>,
    settings: Settings,
    state: Mutex<State>,
    /// The number of refreshes that have ended, and the outcome of the last one.
    outcome: watch::Sender<(u64, Result<(), WireError>)>,
}

#[derive(Default)]
struct State {
    is_running: bool,
    last: Option<Instant>,
}

/// A refresh in flight. Dropping it ends the refresh, however its task ended.
struct Running<'a> {
    refresher: &'a Refresher,
    outcome: Result<(), WireError>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.refresher.state.lock();
            state.is_running = false;
            state.last = Some(Instant::now());
        }
        let outcome = self.outcome.clone();
        let ended = &self.refresher.outcome;
        ended.send_modify(|last| *last = (last.0 + 1, outcome));
    }
}

impl Refresher {
    pub(super) fn new(nodes: Arc<Nodes>, settings: Settings) -> Arc<Refresher> {
        Arc::new(Refresher {
            nodes,
            settings,
            state: Mutex::default(),
            outcome: watch::Sender::new((0, Ok(()))),
        })
    }

    /// Refreshes the map, unless a refresh is in flight. The first node to ask is `first`, and the last one is
    /// `suspect`.
    pub(super) fn begin(
        self: &Arc<Refresher>,
        first: Option<Arc<ClusterNode>>,
        suspect: Option<&Arc<ClusterNode>>,
    ) {
        let mut state = self.state.lock();
        if state.is_running {
            return;
        }
        let not_before = state.last.map(|last| last + SHORTEST_PAUSE);
        let (refresher, suspect) = (self.clone(), suspect.cloned());
        let refresh = async move {
            if let Some(time) = not_before {
                sleep_until(time.into()).await;
            }
            let mut running = Running {
                refresher: &refresher,
                outcome: Err(WireError::unavailable("the refresh was given up")),
            };
            running.outcome = refresher.refresh(first, suspect).await;
        };
        state.is_running = self.settings.background.spawn(refresh).is_some();
    }

    /// Waits for the end of the next refresh, and begins one if none is in flight. Fails after `until`.
    pub(super) async fn run(
        self: &Arc<Refresher>,
        suspect: Option<&Arc<ClusterNode>>,
        until: Instant,
    ) -> Result<(), WireError> {
        let mut outcome = self.outcome.subscribe();
        let seen = outcome.borrow_and_update().0;
        self.begin(None, suspect);
        let ended = outcome.wait_for(|(ended, _)| *ended > seen);
        match self
            .settings
            .background
            .timers()
            .timeout_at(until, ended)
            .await
        {
            Ok(Ok(outcome)) => outcome.1.clone(),
            _ => Err(WireError::unavailable(
                "no node of the cluster said in time which node has which slot",
            )),
        }
    }

    /// Asks the nodes in turn. Learns the first complete answer, or the first answers that together place all slots.
    async fn refresh(
        &self,
        first: Option<Arc<ClusterNode>>,
        suspect: Option<Arc<ClusterNode>>,
    ) -> Result<(), WireError> {
        self.nodes.begin_refresh();
        let mut candidates = self.candidates(first, suspect).into_iter();
        let mut asked = JoinSet::new();
        let mut failure = WireError::unavailable("no node of the cluster is known");
        // The answers so far, which leave slots without a primary.
        let mut partial = Vec::new();
        loop {
            if let Some(node) = candidates.next() {
                let until = Instant::now() + self.settings.command_timeout;
                asked.spawn(ask(node, until));
            }
            tokio::select! {
                biased;
                answer = asked.join_next() => match answer {
                    Some(Ok(Ok(reply))) => {
                        partial.push(reply);
                        if are_complete(&partial) {
                            self.nodes.learn(partial);
                            return Ok(());
                        }
                    }
                    Some(Ok(Err(error))) => failure = worse(failure, error),
                    Some(Err(error)) => failure = WireError::unavailable(error.to_string()),
                    None if partial.is_empty() => return Err(failure),
                    None => {
                        self.nodes.learn(partial);
                        return Ok(());
                    }
                },
                () = sleep(SHARE), if candidates.len() > 0 => {}
            }
        }
    }

    /// Returns the nodes to ask. Connected nodes come first, since they answer soonest.
    fn candidates(
        &self,
        first: Option<Arc<ClusterNode>>,
        suspect: Option<Arc<ClusterNode>>,
    ) -> Vec<Arc<ClusterNode>> {
        let mut nodes = self.nodes.all();
        nodes.sort_by_key(|node| !node.is_connected());
        let is = |one: &Option<Arc<ClusterNode>>, node: &Arc<ClusterNode>| {
            one.as_ref().is_some_and(|one| Arc::ptr_eq(one, node))
        };
        nodes.retain(|node| !is(&first, node) && !is(&suspect, node));
        first.into_iter().chain(nodes).chain(suspect).collect()
    }
}

/// Returns the more informative error. A refusal explains more than an unreachable node: the URL is wrong, or a
/// permission is missing.
fn worse(before: WireError, error: WireError) -> WireError {
    match (&before, &error) {
        (WireError::Refused(_), WireError::Unavailable(_)) => before,
        _ => error,
    }
}

async fn ask(node: Arc<ClusterNode>, until: Instant) -> Result<SlotsReply, WireError> {
    let question = ["CLUSTER", "SLOTS"].map(Argument::Text);
    let answer = node
        .ask(&question, until)
        .await
        .map_err(NodeError::into_wire)?;
    match slots_reply::parse(&answer, &node.name.host) {
        Some(reply) if reply != SlotsReply::default() => Ok(reply),
        Some(_) => Err(WireError::unavailable(format!(
            "{} knows of no slots",
            node.name
        ))),
        None => Err(WireError::unavailable(format!(
            "{} answered CLUSTER SLOTS with something else",
            node.name
        ))),
    }
}
