//! One attempt of an owner to win the votes of a majority.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ballot::node_command::{Command, NodeReply, Proposal};
use super::ballot::place::ClockState;
use super::ballot::progress::Progress;
use super::ballot::{Phase, Verdict};
use super::candidate::Candidate;
use super::clocks::Judgement;
use super::node_tasks::{NodeTask, NodeTasks};
use super::quorum_nodes::{QuorumNodes, clock_is_off};
use super::quorum_scripts::parse_reply;
use super::{ends, marking};
use crate::backend::redis::CLOCK;
use crate::backend::redis::encoder::{Argument, millis};
use crate::backend::redis::node::{NodeError, Purpose, ScriptCall};
use crate::backend::redis::trial::Trial;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::SendEvent;
use crate::backend::wire::reply::{AcquireReply, Answered};
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;

/// Asks the nodes until a majority has voted for the owner, or another owner has the lock.
///
/// Dropped at any time, it leaves the commands in flight to the background, which notes their answers.
pub(super) async fn acquire(
    nodes: &Arc<QuorumNodes>,
    candidate: &Arc<Candidate>,
    mut queue: bool,
    until: Instant,
) -> Result<Answered<AcquireReply>, WireError> {
    let mut attempt = Attempt::begin(nodes, candidate, !queue);
    let commands = candidate.ballot.lock().ask(queue, CLOCK.now());
    attempt.send(commands, queue, until);
    let mut is_over = false;
    loop {
        match next(nodes, candidate, &mut queue, is_over) {
            Next::Done(outcome) => return outcome,
            Next::Ask(commands) => attempt.send(commands, queue, until),
        }
        is_over = attempt.wait(until).await;
        keep_pace(nodes, candidate, until).await;
    }
}

/// Waits until more commands may be sent. Only then does the attempt decide which.
async fn keep_pace(nodes: &QuorumNodes, candidate: &Candidate, until: Instant) {
    let now = Instant::now();
    let pause = candidate.pace.lock().pause(now);
    if let Some(pause) = pause {
        let end = until.min(now + pause);
        Box::pin(nodes.background.timers().sleep_until(end)).await;
    }
}

/// The next step of an attempt.
enum Next {
    Done(Result<Answered<AcquireReply>, WireError>),
    /// Send these commands, if any, and wait.
    Ask(Vec<(usize, Command)>),
}

fn next(nodes: &QuorumNodes, candidate: &Candidate, queue: &mut bool, is_over: bool) -> Next {
    let now = CLOCK.now();
    // A clock that was right when its node voted may be off by now.
    let judgements = nodes.clocks.lock().judge_all(now);
    let mut ballot = candidate.ballot.lock();
    for (node, judgement) in judgements.into_iter().enumerate() {
        ballot.place_mut(node).clock = match judgement {
            Judgement::Right | Judgement::Off(_) => ClockState::Judged,
            Judgement::Unknown => ClockState::Unknown,
        };
        if let Judgement::Off(off) = judgement
            && ballot.place(node).held().is_some()
        {
            ballot.drop_vote(node, &clock_is_off(off));
        }
    }
    let progress = ballot.progress(now, is_over);
    if let Progress::Granted { grant, at } = progress {
        ballot.hold(grant.token);
        let answer = AcquireReply::Granted(grant);
        return Next::Done(Ok(Answered { at, answer }));
    }
    if !is_over {
        // `try_acquire` is busy only if another caller has the lock. While votes are split it queues, so that one
        // caller wins.
        *queue |= matches!(progress, Progress::Open) && ballot.is_split(now);
        let commands = ballot.due(*queue, now);
        if !commands.is_empty() {
            return Next::Ask(commands);
        }
    }
    match progress {
        Progress::Waits(waiting) => {
            let answer = AcquireReply::Waiting(waiting);
            Next::Done(Ok(Answered { at: now, answer }))
        }
        Progress::TooFew => Next::Done(Err(nodes.too_few(&ballot.reasons()))),
        Progress::Granted { .. } | Progress::Open => Next::Ask(Vec::new()),
    }
}

/// An attempt in progress.
struct Attempt<'a> {
    nodes: &'a Arc<QuorumNodes>,
    candidate: &'a Arc<Candidate>,
    in_flight: NodeTasks,
}

impl<'a> Attempt<'a> {
    fn begin(
        nodes: &'a Arc<QuorumNodes>,
        candidate: &'a Arc<Candidate>,
        only_tries: bool,
    ) -> Attempt<'a> {
        let mut ballot = candidate.ballot.lock();
        ballot.is_driven = true;
        ballot.begin_attempt(nodes.clocks.lock().patience(), only_tries);
        drop(ballot);
        Attempt {
            nodes,
            candidate,
            in_flight: NodeTasks::default(),
        }
    }

    fn send(&mut self, commands: Vec<(usize, Command)>, queue: bool, until: Instant) {
        if !commands.is_empty() {
            self.candidate.pace.lock().count(Instant::now());
        }
        let now = CLOCK.now();
        let mut ballot = self.candidate.ballot.lock();
        for &(node, command) in &commands {
            ballot.sent(node, command, now);
        }
        drop(ballot);
        for (node, command) in commands {
            let (nodes, candidate) = (self.nodes.clone(), self.candidate.clone());
            let task = task(nodes, candidate, node, command, queue, until);
            self.in_flight.push(node, task);
        }
    }

    /// Waits until a node has answered, a message has come, or a timer is due. Returns `true` if the attempt is over.
    async fn wait(&mut self, until: Instant) -> bool {
        let now = CLOCK.now();
        let next = self.candidate.ballot.lock().next_time(now);
        let next = next.map_or(until, |next| until.min(Instant::now() + next.since(now)));
        let answered = async {
            if self.in_flight.is_empty() {
                pending().await
            } else {
                self.in_flight.any().await
            }
        };
        let something = async {
            tokio::select! {
                biased;
                () = answered => {}
                () = self.candidate.changed.notified() => {}
            }
        };
        let timers = self.nodes.background.timers();
        // The loop checks again, whichever it was.
        let _ = timers.timeout_at(next, something).await;
        Instant::now() >= until
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.nodes.background.check_process().is_err() {
            return;
        }
        // Commands that were not sent are dropped, so that none can follow an end.
        let is_sent = |node: usize| {
            let mut ballot = self.candidate.ballot.lock();
            ballot.place_mut(node).forget_unwritten()
        };
        self.in_flight.retain(is_sent);
        let (nodes, in_flight) = (self.nodes, &mut self.in_flight);
        let mut ballot = self.candidate.ballot.lock();
        ballot.is_driven = false;
        let has_message = ballot.has_message(CLOCK.now());
        let phase = ballot.phase();
        drop(ballot);
        match phase {
            // Only the owner's end needs the other nodes' answers.
            Phase::Holds(_) => {
                let owner_id = self.candidate.entry.owner_id;
                nodes.late.leave(&nodes.background, owner_id, in_flight);
                nodes.confirm_late(self.candidate);
            }
            // A late vote may decide the election.
            Phase::Acquires | Phase::Ended => in_flight.leave(&nodes.background),
        }
        if has_message {
            self.nodes.wake(self.candidate);
        }
    }
}

/// Returns the command to one node, which ends when its answer is noted.
fn task(
    nodes: Arc<QuorumNodes>,
    candidate: Arc<Candidate>,
    node: usize,
    command: Command,
    queue: bool,
    until: Instant,
) -> NodeTask {
    Box::pin(async move {
        let replied = send(&nodes, &candidate, node, command, queue, until).await;
        let now = CLOCK.now();
        if let Err(error) = &replied {
            nodes.health(node).failed(error);
        }
        let replied = replied.and_then(|(at, reply, node_now)| {
            // Even if the node's clock is off, since clients measure the time.
            if matches!(reply, NodeReply::Early(_)) {
                marking::count(&nodes, node);
            }
            nodes.check_clock(node, at, now, node_now)?;
            nodes.health(node).answered(at);
            Ok((at, reply))
        });
        let mut ballot = candidate.ballot.lock();
        match replied {
            Ok((at, reply)) => ballot.answered(node, at, reply, now),
            Err(error) => ballot.unanswered(node, &error),
        }
        let phase = ballot.phase();
        let has_more = ballot.verdict(now) != Verdict::Open || ballot.has_message(now);
        let wakes = has_more && !ballot.is_driven;
        let is_revived = phase == Phase::Ended && ballot.place_mut(node).take_revived();
        drop(ballot);
        match phase {
            Phase::Ended if is_revived => ends::end_again(&nodes, &candidate, node),
            Phase::Acquires if wakes => nodes.wake(&candidate),
            // A message may have come meanwhile.
            Phase::Holds(_) => nodes.confirm_late(&candidate),
            _ => {}
        }
    })
}

async fn send(
    nodes: &QuorumNodes,
    candidate: &Candidate,
    node: usize,
    command: Command,
    queue: bool,
    until: Instant,
) -> Result<(Moment, NodeReply, u64), WireError> {
    let (stamp, ttl) = {
        let ballot = candidate.ballot.lock();
        (ballot.stamp(), ballot.ttl())
    };
    let (script, name, proposal, token);
    let [marker, entry] = [
        Argument::Text(&nodes.marker),
        Argument::Entry(&candidate.entry),
    ];
    let stamp = Argument::Number(i64::try_from(stamp).unwrap_or(i64::MAX));
    let delay = Argument::Number(nodes.delay_ms());
    let (of_acquire, of_yield);
    let arguments: &[Argument<'_>] = match command {
        Command::Acquire {
            queue,
            proposal: proposed,
        } => {
            (script, name) = (&nodes.scripts.acquire, "acquire");
            proposal = match proposed {
                Proposal::Guess(token) => token.to_string(),
                Proposal::Known(token) => format!("={token}"),
            };
            let ttl = Argument::Number(if queue { millis(ttl) } else { -millis(ttl) });
            let proposal = Argument::Text(&proposal);
            of_acquire = [marker, entry, ttl, stamp, proposal, Argument::Boot, delay];
            &of_acquire
        }
        Command::Yield { token: named } => {
            (script, name) = (&nodes.scripts.yielding, "yield");
            token = format!("{:0digits$}", named.get(), digits = FencingToken::DIGITS);
            of_yield = [
                marker,
                entry,
                Argument::Text(&token),
                stamp,
                Argument::Boot,
                delay,
            ];
            &of_yield
        }
    };
    let call = ScriptCall {
        script,
        names: &candidate.names,
        arguments,
        shortcut: None,
        trial: Some(Trial::Quorum),
    };
    let queues = queue || matches!(command, Command::Yield { .. });
    let mut note = |event: SendEvent| note(candidate, node, ttl, queues, event);
    let answered = nodes
        .node(node)
        .run(Purpose::Acquire, &call, until, &mut note)
        .await;
    let Answered { at, answer } = answered.map_err(NodeError::into_wire)?;
    let (reply, node_now) = parse_reply(answer, name)?;
    Ok((at, reply, node_now))
}

/// Notes the progress of a command that may make the owner hold the node or queue there.
pub(super) fn note(
    candidate: &Candidate,
    node: usize,
    ttl: Duration,
    queue: bool,
    event: SendEvent,
) {
    let mut ballot = candidate.ballot.lock();
    let is_ended = ballot.phase() == Phase::Ended;
    let place = ballot.place_mut(node);
    if is_ended && let SendEvent::Sending(_) = event {
        place.revive();
    }
    place.note(event, ttl, queue);
}
