//! Keeps locks on a majority of independent servers, the nodes of a quorum.
//!
//! Other programs see [Redlock](https://redis.io/docs/latest/develop/use/patterns/distributed-locks/): an owner has the
//! lock if it has `SET NX PX` on a majority of the nodes. In addition, the nodes keep one order of waiters, agree on
//! fencing tokens, and do not vote for some time after they may have lost data (`docs/decisions/quorum.md`).
//!
//! The [`ballot`] of an owner decides, without I/O. An [`attempt`] asks the [nodes](quorum_nodes), [`ends`] ends an owner on
//! each of them, and [`quorum_renewals`] extends leases.
//!
//! # Invariants
//!
//! - Each node keeps the invariants of one server.
//! - An expired vote does not count, nor does a vote that the owner is yielding.
//! - Only a holder that a majority has just confirmed rewrites its record.
//! - A node that may have lost data grants nothing until clients have measured the restart delay.

mod attempt;
mod ballot;
pub(super) mod boots;
mod candidate;
mod clocks;
mod counting;
mod election;
mod ends;
mod health;
mod late;
mod late_claims;
mod majority;
mod marking;
mod node_tasks;
mod quorum_inspection;
mod quorum_nodes;
mod quorum_renewals;
mod quorum_scripts;
mod revocations;
mod spread;
mod too_few;
mod votes;

use std::cell::OnceCell;
use std::sync::Arc;

use self::ballot::place::Reason;
use self::quorum_nodes::QuorumNodes;
use super::CLOCK;
use super::connect::Settings;
use super::hello::ServerMode;
use super::login::Login;
use super::side_by_side::side_by_side;
use super::url::QuorumTarget;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::{AcquireRequest, End, Renewal, RenewalOutcome, WireEvents};
use crate::background::Background;
use crate::config::Options;

/// Stands for the connections to all nodes. Each node has commands of its own.
const ALL: ConnectionId = ConnectionId(0);

/// A wire to the nodes of a quorum.
pub(crate) struct QuorumWire {
    nodes: Arc<QuorumNodes>,
    /// The login of the first node.
    login: Option<Arc<Login>>,
}

impl QuorumWire {
    /// Creates a wire to the nodes of a URL. Connects with the first command.
    pub(crate) fn new(
        target: QuorumTarget,
        options: &Options,
        background: Background,
        events: Arc<dyn WireEvents>,
    ) -> QuorumWire {
        let first = OnceCell::new();
        let settings = |login| {
            let background = background.clone();
            let settings = Settings::new(login, ServerMode::QuorumNode, options, background);
            first.get_or_init(|| settings.login.clone());
            settings
        };
        let nodes = QuorumNodes::new(target, settings, options, events);
        let login = first.into_inner();
        QuorumWire { login, nodes }
    }

    /// Ends an owner on all nodes.
    async fn end_owner(&self, owner: &mut Owner, contended: bool) -> Result<EndReply, WireError> {
        let candidate = self.nodes.candidate_to_end(owner);
        owner.outstanding.ending(ALL);
        let ended = ends::end(&self.nodes, &candidate, contended).await;
        // An answer is in doubt if an earlier end may have been carried out.
        if ended.is_ok() && !candidate.ballot.lock().is_end_doubtful() {
            owner.outstanding.ending_is_known();
        }
        ended
    }

    pub(crate) async fn acquire(
        &self,
        owner: &mut Owner,
        request: AcquireRequest,
    ) -> Result<Answered<AcquireReply>, WireError> {
        let AcquireRequest { ttl, queue, .. } = request;
        let until = self.nodes.until();
        if !self.nodes.clocks.lock().is_heard() {
            marking::hear(&self.nodes, until).await;
        }
        let candidate = self.nodes.candidate(owner, ttl);
        owner.outstanding.sending(ALL, ttl, queue);
        let answered = attempt::acquire(&self.nodes, &candidate, queue, until).await;
        let is_final = match &answered {
            Ok(Answered { answer, .. }) => matches!(answer, AcquireReply::Waiting(_)),
            Err(WireError::Refused(_)) => true,
            Err(WireError::Unavailable(_)) => false,
        };
        if is_final && !queue {
            // The caller stops asking. It queues nowhere, but may have some nodes.
            owner.kept = None;
            ends::abandon(&self.nodes, &candidate);
        }
        owner.outstanding.answered(ALL);
        answered
    }

    pub(crate) async fn renew(
        &self,
        renewals: &[Renewal],
        report: impl FnMut(usize, RenewalOutcome) + Send,
    ) {
        quorum_renewals::renew(&self.nodes, renewals, report).await;
    }

    /// A quorum has neither minimum hold nor successors, so its clients ask for neither (`docs/decisions/quorum.md`).
    pub(crate) async fn end(
        &self,
        owner: &mut Owner,
        how: End<'_>,
    ) -> Result<Answered<EndReply>, WireError> {
        let names_one = matches!(how, End::Whole { successor: Some(_) });
        debug_assert!(!names_one, "a quorum has no successors");
        let contended = !matches!(how, End::Release { .. });
        let at = CLOCK.now();
        let answer = self.end_owner(owner, contended).await?;
        Ok(Answered { at, answer })
    }

    pub(crate) fn read_messages(&self) {
        for connection in self.nodes.connections() {
            connection.transport.read_messages();
        }
    }

    pub(crate) fn keep_reading_messages(&self) {
        for connection in self.nodes.connections() {
            connection.transport.keep_reading_messages();
        }
    }

    pub(crate) async fn settled(&self) {
        self.nodes.unsettled.zero().await;
    }

    /// Connects to all nodes, and marks them. A majority must answer.
    ///
    /// A user that only looks at locks may not mark a node. The refusal is an answer, too.
    pub(crate) async fn ping(&self) -> Result<(), WireError> {
        let until = self.nodes.until();
        let marks =
            (0..self.nodes.len()).map(|node| marking::mark_and_count(&self.nodes, node, until));
        let marked = side_by_side(marks).await;
        self.nodes.boots.check_all()?;
        self.nodes.compare_clocks();
        let failed = |(node, marked): (usize, Result<(), WireError>)| Some((node, marked.err()?));
        let failed = marked.into_iter().enumerate().filter_map(failed);
        let failed: Vec<_> = failed
            .filter(|(_, error)| !error.is_of_a_missing_permission())
            .collect();
        let tolerated = self.nodes.len() - self.nodes.majority();
        let reasons: Vec<_> = failed
            .iter()
            .map(|(node, error)| (*node, Reason::of(error)))
            .collect();
        if failed.len() > tolerated {
            Err(self.nodes.too_few(&reasons))
        } else {
            Ok(())
        }
    }
}
