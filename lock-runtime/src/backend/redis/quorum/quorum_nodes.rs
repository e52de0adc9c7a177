//! The nodes of a quorum, and the state that all owners of a client share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use foldhash::HashMap;

use super::ballot::place::Reason;
use super::ballot::{Ballot, GUESS_AHEAD, Phase};
use super::boots::Boots;
use super::candidate::Candidate;
use super::clocks::{Clocks, Judgement};
use super::counting::Counting;
use super::ends::{self, UnendedOwner};
use super::health::NodeHealth;
use super::late::LateAnswers;
use super::late_claims::{self, LateClaims};
use super::quorum_scripts::QuorumScripts;
use super::revocations::{Revocations, Said};
use super::spread::Spread;
use super::too_few::TooFew;
use crate::backend::redis::CLOCK;
use crate::backend::redis::connect::Settings;
use crate::backend::redis::connection::Connection;
use crate::backend::redis::fence_retention::FenceRetention;
use crate::backend::redis::locator::Locator;
use crate::backend::redis::node::Node;
use crate::backend::redis::renewals::write_renewals;
use crate::backend::redis::shared_connection::PushEvent;
use crate::backend::redis::url::QuorumTarget;
use crate::backend::wire::error::WireError;
use crate::backend::wire::notice::{Notice, is_notice};
use crate::backend::wire::owner::Owner;
use crate::backend::wire::unended::Unended;
use crate::backend::wire::{NodeId, Renewal, WireEvents};
use crate::background::Background;
use crate::background::in_flight::InFlight;
use crate::background::moment::Moment;
use crate::background::sync::Mutex;
use crate::config::Options;
use crate::key::{CommonRecord, LockName};
use crate::lease::owner_id::OwnerId;
use crate::telemetry;

/// When one node reports a lock revoked, a majority should report it within this time. Otherwise the owner asks.
const FEW_SAY: Duration = Duration::from_millis(500);

/// The nodes of a quorum.
pub(super) struct QuorumNodes {
    nodes: Vec<(Node, NodeHealth)>,
    pub(super) boots: Arc<Boots>,
    pub(super) background: Background,
    pub(super) scripts: &'static QuorumScripts,
    /// The name of a node's marker.
    pub(super) marker: String,
    /// How long a node that may have lost data does not vote.
    pub(super) restart_delay: Duration,
    /// How long the nodes that do not vote have waited, as far as is known.
    pub(super) counts: Box<[Mutex<Counting>]>,
    pub(super) clocks: Mutex<Clocks>,
    /// Whether the operator was warned that clocks are apart.
    is_spread_told: AtomicBool,
    candidates: Arc<Candidates>,
    events: Arc<dyn WireEvents>,
    pub(super) late: Arc<LateAnswers>,
    pub(super) late_claims: LateClaims,
    /// Unanswered ends that nothing else waits for.
    pub(super) unsettled: InFlight,
    /// For each node, the owners that are ended on the next connection.
    pub(super) unended: Box<[Unended<UnendedOwner>]>,
}

/// The owners of a client that messages may name.
struct Candidates {
    by_owner: Mutex<HashMap<OwnerId, Weak<Candidate>>>,
    /// Set after the nodes are created.
    nodes: OnceLock<Weak<QuorumNodes>>,
    /// A lock counts as revoked when a majority reports it.
    revocations: Mutex<Revocations>,
}

impl Candidates {
    fn insert(&self, candidate: &Arc<Candidate>) {
        let mut candidates = self.by_owner.lock();
        // Dead candidates are removed when the map would grow. It grows only if most candidates are alive.
        let capacity = candidates.capacity();
        if candidates.len() == capacity {
            candidates.retain(|_, candidate| candidate.strong_count() > 0);
            let live = candidates.len();
            if live > capacity / 2 {
                candidates.reserve(live);
            }
        }
        candidates.insert(candidate.entry.owner_id, Arc::downgrade(candidate));
    }

    fn get(&self, owner_id: OwnerId) -> Option<Arc<Candidate>> {
        self.by_owner.lock().get(&owner_id).and_then(Weak::upgrade)
    }

    /// Returns the owner whose lock is revoked, according to a notice.
    fn named_by(&self, notice: &[u8]) -> Option<Arc<Candidate>> {
        let notice = Notice::parse(notice)?;
        self.get(notice.owner_id)
    }

    /// Handles a message of a node. Returns whether an attempt in progress takes care of it.
    fn notified(&self, node: usize, payload: &[u8]) -> bool {
        let Some(candidate) =
            OwnerId::parse_prefix(payload).and_then(|owner_id| self.get(owner_id))
        else {
            return false;
        };
        let is_driven = {
            let mut ballot = candidate.ballot.lock();
            ballot.notified(node);
            ballot.is_driven && ballot.phase() == Phase::Acquires
        };
        if is_driven {
            candidate.changed.notify_one();
        } else if let Some(nodes) = self.nodes.get().and_then(Weak::upgrade) {
            nodes.confirm_late(&candidate);
        }
        is_driven
    }
}

impl QuorumNodes {
    pub(super) fn new(
        target: QuorumTarget,
        settings: impl Fn(redis::RedisConnectionInfo) -> Settings,
        options: &Options,
        events: Arc<dyn WireEvents>,
    ) -> Arc<QuorumNodes> {
        let boots = Arc::new(Boots::new(!target.restart_delay.is_zero()));
        let candidates = Arc::new(Candidates {
            by_owner: Mutex::default(),
            nodes: OnceLock::new(),
            revocations: Mutex::new(Revocations::of(target.nodes.len())),
        });
        let mut background = None;
        let nodes = target.nodes.into_iter().enumerate();
        let nodes: Vec<_> = nodes
            .map(|(number, (address, login))| {
                let settings = settings(login).of_quorum(boots.clone());
                background = Some(settings.background.clone());
                let name = address.to_string();
                let health = NodeHealth::new(name);
                (
                    node(number, address.into(), settings, &candidates, &events),
                    health,
                )
            })
            .collect();
        let unended = nodes.iter().map(|_| Unended::default()).collect();
        let nodes = Arc::new(QuorumNodes {
            clocks: Mutex::new(Clocks::new(nodes.len())),
            is_spread_told: AtomicBool::new(false),
            counts: nodes.iter().map(|_| Mutex::default()).collect(),
            nodes,
            boots,
            background: background.expect("a quorum has nodes"),
            marker: CommonRecord::Marker.name(&options.prefix),
            scripts: QuorumScripts::with(FenceRetention::of(options.fence_retention)),
            restart_delay: target.restart_delay,
            candidates: candidates.clone(),
            events,
            late: Arc::default(),
            late_claims: LateClaims::default(),
            unsettled: InFlight::default(),
            unended,
        });
        let is_first = candidates.nodes.set(Arc::downgrade(&nodes)).is_ok();
        debug_assert!(is_first, "they are made once");
        nodes
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn majority(&self) -> usize {
        self.len() / 2 + 1
    }

    pub(super) fn node(&self, node: usize) -> &Node {
        &self.nodes[node].0
    }

    pub(super) fn health(&self, node: usize) -> &NodeHealth {
        &self.nodes[node].1
    }

    /// Notes a node's time, from the answer to a command sent at `sent`. Fails if the clock is so far off that the
    /// node's votes do not count.
    pub(super) fn check_clock(
        &self,
        node: usize,
        sent: Moment,
        now: Moment,
        node_now: u64,
    ) -> Result<(), WireError> {
        let judgement = {
            let mut clocks = self.clocks.lock();
            clocks.note(node, sent, now, node_now);
            clocks.judge(node, now)
        };
        match judgement {
            Judgement::Off(off) => {
                self.health(node).clock_is_off(off);
                Err(clock_is_off(off))
            }
            Judgement::Right | Judgement::Unknown => Ok(()),
        }
    }

    /// Warns the operator once if clocks are apart. Called when most nodes have just reported their time.
    pub(super) fn compare_clocks(&self) {
        let spread = self.clocks.lock().spread();
        if let Some(Spread { node, other, apart }) = spread
            && !self.is_spread_told.swap(true, Ordering::Relaxed)
        {
            let name = |node| &self.health(node).name;
            telemetry::clocks_apart(name(node), name(other), apart);
        }
    }

    pub(super) fn each(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().map(|(node, _)| node)
    }

    pub(super) fn connections(&self) -> impl Iterator<Item = Arc<Connection>> {
        self.each().filter_map(Node::connected)
    }

    /// Returns the deadline of a command that begins now.
    pub(super) fn until(&self) -> Instant {
        self.node(0).until()
    }

    pub(super) fn delay_ms(&self) -> i64 {
        i64::try_from(self.restart_delay.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns the token that an end proposes for the next owner.
    pub(super) fn guess(&self) -> u64 {
        self.clocks.lock().stamp(CLOCK.now()) + GUESS_AHEAD
    }

    /// Returns the ballot of an owner, and creates it for an owner that begins to ask now.
    pub(super) fn candidate(&self, owner: &mut Owner, ttl: Duration) -> Arc<Candidate> {
        let make = || {
            let clocks = self.clocks.lock();
            Ballot::new(
                self.len(),
                clocks.stamp(CLOCK.now()),
                ttl,
                clocks.patience(),
            )
        };
        self.candidate_with(owner, make)
    }

    /// Returns the ballot of an owner that must be ended.
    pub(super) fn candidate_to_end(&self, owner: &mut Owner) -> Arc<Candidate> {
        self.candidate_with(owner, || Ballot::of_ended(self.len()))
    }

    fn candidate_with(&self, owner: &mut Owner, make: impl FnOnce() -> Ballot) -> Arc<Candidate> {
        let Owner {
            entry, names, kept, ..
        } = owner;
        let known = kept.clone().and_then(|kept| kept.downcast().ok());
        known.unwrap_or_else(|| {
            let candidate = Arc::new(Candidate::new(entry.clone(), names.clone(), make()));
            self.candidates.insert(&candidate);
            *kept = Some(candidate.clone());
            candidate
        })
    }

    /// Returns the ballot of an owner, as long as it has one.
    pub(super) fn candidate_of(&self, owner_id: OwnerId) -> Option<Arc<Candidate>> {
        self.candidates.get(owner_id)
    }

    /// Wakes the acquisition of an owner for another attempt, since something came that the last one did not see.
    pub(super) fn wake(&self, candidate: &Candidate) {
        let lock = &candidate.names.first().lock;
        let concerns = |other: &LockName| other == lock;
        self.events.released(candidate.entry.owner_id, &concerns);
    }

    /// After a while, confirms the lease of an owner whose lock few nodes report revoked. Until then a majority will
    /// probably report it, with the operator's name. An earlier renewal would end the lease without a reason.
    fn doubt_soon(&self, candidate: Arc<Candidate>) {
        let (events, background) = (self.events.clone(), self.background.clone());
        self.background.spawn(async move {
            background.sleep(FEW_SAY).await;
            let lock = &candidate.names.first().lock;
            events.doubted(&|other: &LockName| other == lock);
        });
    }

    /// After a while, confirms the nodes that a holder was granted after it had won, if it still has the lock.
    pub(super) fn confirm_late(self: &Arc<Self>, candidate: &Arc<Candidate>) {
        if self.background.check_process().is_err() || !self.late_claims.note(candidate) {
            return;
        }
        let (nodes, background) = (Arc::downgrade(self), self.background.clone());
        self.background.spawn(async move {
            let mut pause = late_claims::DELAY;
            loop {
                background.sleep(pause).await;
                let Some(nodes) = nodes.upgrade() else { break };
                let (due, next) = nodes.late_claims.take_due();
                for (node, renewals) in due {
                    let nodes = nodes.clone();
                    background.spawn(async move { nodes.confirm(node, &renewals).await });
                }
                let Some(next) = next else { break };
                pause = next.saturating_duration_since(Instant::now());
            }
        });
    }

    /// Renews on one node what holders were granted there. A renewal creates no record, so it is harmless if it comes
    /// late. The answer is ignored: the next round of renewals asks all nodes.
    async fn confirm(&self, node: usize, renewals: &[Renewal]) {
        let all: Vec<&Renewal> = renewals.iter().collect();
        let until = self.until();
        let _ = self
            .node(node)
            .renew(&all, write_renewals, None, until)
            .await;
    }

    /// Returns the error of a call without a majority, from the reasons of the nodes whose votes are missing.
    pub(super) fn too_few(&self, reasons: &[(usize, Reason)]) -> WireError {
        let too_few = TooFew {
            nodes: self.len(),
            restart_delay: self.restart_delay,
            reasons,
        };
        too_few.error(|node| &self.health(node).name)
    }
}

pub(super) fn clock_is_off(by: Duration) -> WireError {
    WireError::unavailable(format!("its clock is {by:.1?} off those of the others"))
}

/// Creates a node that forwards messages to the owners that they name.
fn node(
    number: usize,
    locator: Locator,
    settings: Settings,
    candidates: &Arc<Candidates>,
    events: &Arc<dyn WireEvents>,
) -> Node {
    let on_push = {
        let (candidates, events) = (candidates.clone(), events.clone());
        move |id: NodeId, event: PushEvent<'_>| match event {
            PushEvent::Connected(connection) => {
                events.connected(id, connection);
                if let Some(nodes) = candidates.nodes.get().and_then(Weak::upgrade) {
                    ends::connected(&nodes, number);
                }
            }
            PushEvent::Disconnected(connection) => {
                events.disconnected(id, connection, &|_: &LockName| true);
            }
            PushEvent::Message { channel, payload } if is_notice(payload) => {
                let said = candidates.revocations.lock().note(number, payload);
                match said {
                    Said::ByMajority => events.message(channel, payload),
                    // The other nodes may have lost the lock before, and then report nothing.
                    Said::ByFew => {
                        let nodes = candidates.nodes.get().and_then(Weak::upgrade);
                        if let Some((nodes, candidate)) = nodes.zip(candidates.named_by(payload)) {
                            nodes.doubt_soon(candidate);
                        }
                    }
                    Said::Before => {}
                }
            }
            PushEvent::Message { channel, payload } => {
                if !candidates.notified(number, payload) {
                    events.message(channel, payload);
                }
            }
        }
    };
    let id = NodeId(u32::try_from(number).unwrap_or(u32::MAX));
    Node::new(id, locator, settings, events.clone(), Arc::new(on_push))
}
