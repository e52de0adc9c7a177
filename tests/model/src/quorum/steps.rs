//! The steps of the nodes, the owners and the network.

use super::ends::event_of;
use super::mistake::Mistake;
use super::owner::{grant, reply, time};
use super::records::{Owner, Records};
use super::scripts::{Answer, Command, run};
use super::world::World;
use super::{Quorum, Step, TOKENS_RISE};
use crate::backend::engine::ending::Event;
use crate::backend::redis::quorum::ballot;
use crate::backend::redis::quorum::votes::{Outcome, Vote, Votes};
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::{ConnectionId, SendEvent};
use crate::backend::wire::reply::Answered;

/// There is no answer to a command.
const LOST: WireError = WireError::Unavailable("the connection broke");

impl World {
    /// Appends the steps that may come next.
    pub(super) fn possible(&self, model: &Quorum, steps: &mut Vec<Step>) {
        if self.now < model.horizon {
            steps.push(Step::Tick);
        }
        if self.budget.breaks > 0 {
            self.possible_breaks(steps);
        }
        steps.extend(self.absent.iter().map(|&owner| Step::Arrive(owner)));
        steps.extend(
            (0..self.stray.len() as u8)
                .flat_map(|id| [Step::DeliverStray(id), Step::LoseStray(id)]),
        );
        for (node, site) in (0..).zip(&self.nodes) {
            for (owner, link) in (0..).zip(&site.links) {
                if !link.up.is_empty() || link.end.is_some() {
                    steps.push(Step::Deliver(owner, node));
                }
                if !link.up.is_empty() && self.budget.slow > 0 {
                    steps.push(Step::DeliverSlow(owner, node));
                }
                if !link.down.is_empty() {
                    steps.push(Step::Receive(owner, node));
                }
                if link.push {
                    steps.push(Step::ReadPush(owner, node));
                }
            }
            if self.budget.flushes > 0 {
                steps.push(Step::Flush(node));
            }
            if self.budget.restarts > 0 {
                steps.push(Step::Restart(node));
                let clocks = model.restart_clocks.iter();
                steps.extend(clocks.map(|&ahead| Step::RestartAt(node, ahead)));
            }
            if self.budget.corrections > 0 && site.may_be_corrected(self.now, model) {
                steps.push(Step::Correct(node));
            }
            if self.budget.saves > 0 && site.saved.is_none() {
                steps.push(Step::Save(node));
            }
        }
        for (id, owner) in (0..).zip(&self.owners) {
            let begun = !self.absent.contains(&id);
            if owner.acquires() && begun {
                if self.budget.polls > 0 && owner.may_begin_anew(self.now) {
                    steps.push(Step::Poll(id));
                }
                if self.budget.give_ups > 0 {
                    steps.push(Step::GiveUp(id));
                }
            }
            if owner.token().is_some() {
                if self.budget.renewals > 0 && owner.renewal.is_none() {
                    steps.push(Step::Renew(id));
                }
                steps.push(Step::Release(id));
            }
        }
    }

    fn possible_breaks(&self, steps: &mut Vec<Step>) {
        for (node, site) in (0..).zip(&self.nodes) {
            for (owner, link) in (0..).zip(&site.links) {
                if !link.up.is_empty() {
                    steps.push(Step::BreakLate(owner, node));
                }
                if !link.up.is_empty() || !link.down.is_empty() || link.push {
                    steps.push(Step::Break(owner, node));
                }
            }
        }
    }

    pub(super) fn step(&mut self, step: Step, model: &Quorum) {
        match step {
            Step::Tick => self.now += 1,
            Step::Arrive(owner) => {
                self.absent.retain(|&absent| absent != owner);
                self.begin_attempt(owner);
            }
            Step::Poll(owner) => {
                self.budget.polls -= 1;
                self.begin_attempt(owner);
            }
            Step::Deliver(owner, node) => {
                self.deliver(owner, node.into(), model);
                // Answers are read in their order.
                let link = &self.nodes[usize::from(node)].links[usize::from(owner)];
                if link.down.len() == 1 {
                    self.receive(owner, node, model);
                }
            }
            Step::DeliverSlow(owner, node) => {
                self.budget.slow -= 1;
                self.deliver(owner, node.into(), model);
            }
            Step::Receive(owner, node) => self.receive(owner, node, model),
            Step::ReadPush(owner, node) => {
                self.nodes[usize::from(node)].links[usize::from(owner)].push = false;
                let ballot = &mut self.owners[usize::from(owner)].ballot;
                ballot.notified(node.into());
            }
            Step::Break(owner, node) | Step::BreakLate(owner, node) => {
                self.budget.breaks -= 1;
                let is_late = matches!(step, Step::BreakLate(..));
                self.tear(owner, node, is_late);
            }
            Step::DeliverStray(id) => {
                let (owner, node, command) = self.stray.remove(id.into());
                self.run(owner, node.into(), command, model);
            }
            Step::LoseStray(id) => {
                self.stray.remove(id.into());
            }
            Step::Renew(owner) => {
                self.budget.renewals -= 1;
                let nodes = self.nodes.len();
                self.owners[usize::from(owner)].renewal = Some(Votes::new(nodes));
                let ttl = model.ttl;
                (0..nodes).for_each(|node| self.write(owner, node, Command::Renew { ttl }));
            }
            Step::Release(owner) => self.end(owner),
            Step::GiveUp(owner) => {
                self.budget.give_ups -= 1;
                self.end(owner);
            }
            Step::Flush(node) => {
                self.budget.flushes -= 1;
                let site = &mut self.nodes[usize::from(node)];
                site.records = Records::default();
                site.losses += 1;
            }
            Step::Save(node) => {
                self.budget.saves -= 1;
                let site = &mut self.nodes[usize::from(node)];
                site.saved = Some(site.records.clone());
            }
            Step::Restart(node) => {
                self.budget.restarts -= 1;
                self.restart(node);
            }
            Step::RestartAt(node, ahead) => {
                self.budget.restarts -= 1;
                self.restart(node);
                self.nodes[usize::from(node)].ahead = ahead;
            }
            Step::Correct(node) => {
                self.budget.corrections -= 1;
                self.nodes[usize::from(node)].ahead = model.clocks[0];
            }
        }
        self.decide(model);
    }

    /// Each owner acts on its ballot.
    fn decide(&mut self, model: &Quorum) {
        let now = self.now;
        for id in 0..self.owners.len() as Owner {
            if self.absent.contains(&id) {
                continue;
            }
            let owner = &mut self.owners[usize::from(id)];
            if owner.acquires()
                && let Some(token) = owner.take(now, model.mistake)
            {
                if token <= self.highest {
                    self.breach = Some(TOKENS_RISE);
                }
                self.highest = self.highest.max(token);
            }
            let owner = &mut self.owners[usize::from(id)];
            if owner.token().is_some() && !owner.is_valid(now) {
                self.end(id);
            }
            let owner = &mut self.owners[usize::from(id)];
            let due = owner.ballot.due(true, time(now));
            for (node, command) in due {
                self.send(id, node, command);
            }
            self.count(id, model);
        }
    }

    /// Confirms to nodes that they have waited long enough.
    fn count(&mut self, id: Owner, model: &Quorum) {
        let owner = &self.owners[usize::from(id)];
        let delay = model.rules().delay;
        let waited = |node: &usize| {
            let (count, at) = owner.counts[*node]?;
            Some(count.waited + (self.now - at))
        };
        let is_told = |node: &usize| {
            let mut up = self.nodes[*node].links[usize::from(id)].up.iter();
            up.any(|(command, _)| matches!(command, Command::Mark { .. }))
        };
        let nodes = 0..self.nodes.len();
        let due = nodes.filter(|node| waited(node) >= Some(delay) && !is_told(node));
        let due: Vec<usize> = due.filter(|_| owner.acquires()).collect();
        for node in due {
            let known = None;
            self.write(id, node, Command::Mark { new: 0, known });
        }
    }

    pub(super) fn begin_attempt(&mut self, id: Owner) {
        let owner = &mut self.owners[usize::from(id)];
        if !owner.acquires() {
            return;
        }
        for (node, command) in owner.begin_attempt(self.now) {
            self.send(id, node, command);
        }
    }

    /// Sends a command of the ballot.
    fn send(&mut self, id: Owner, node: usize, command: ballot::node_command::Command) {
        let owner = &mut self.owners[usize::from(id)];
        owner.ballot.sent(node, command, time(self.now));
        let command = owner.script(command);
        self.write(id, node, command);
    }

    /// Writes a command to a connection.
    fn write(&mut self, id: Owner, node: usize, command: Command) {
        let link = &mut self.nodes[node].links[usize::from(id)];
        let ballot = &mut self.owners[usize::from(id)].ballot;
        let ttl = ballot.ttl();
        match command {
            Command::Acquire { .. } | Command::Yield { .. } => {
                ballot
                    .place_mut(node)
                    .note(SendEvent::Sending(link.connection), ttl, true);
            }
            Command::Hold { .. } => {
                ballot
                    .place_mut(node)
                    .note(SendEvent::Sending(link.connection), ttl, false);
            }
            _ => {}
        }
        link.up.push((command, self.now));
    }

    fn deliver(&mut self, id: Owner, node: usize, model: &Quorum) {
        let link = &mut self.nodes[node].links[usize::from(id)];
        if link.up.is_empty() {
            let Some(end) = link.end.take() else {
                return;
            };
            let answer = self.run(id, node, end.command, model);
            self.end_came_to(id, node, end, event_of(answer));
            return;
        }
        let (command, sent_at) = link.up.remove(0);
        let answer = self.run(id, node, command, model);
        let link = &mut self.nodes[node].links[usize::from(id)];
        let owner = &mut self.owners[usize::from(id)];
        if !owner.has_ended() {
            link.down.push((command, sent_at, answer));
        } else if may_store(command) {
            let outstanding = &mut owner.ballot.place_mut(node).outstanding;
            outstanding.answered(link.connection);
        }
    }

    fn receive(&mut self, id: Owner, node: u8, model: &Quorum) {
        let node = usize::from(node);
        let link = &mut self.nodes[node].links[usize::from(id)];
        let (command, sent_at, answer) = link.down.remove(0);
        let connection = link.connection;
        let now = self.now;
        let is_late = model.mistake == Some(Mistake::DeadlineFromReply);
        let at = time(if is_late { now } else { sent_at });
        let owner = &mut self.owners[usize::from(id)];
        if may_store(command) {
            let place = owner.ballot.place_mut(node);
            place.outstanding.answered(connection);
        }
        if let Answer::Marked(count) = answer {
            owner.counts[node] = count.map(|count| (count, now));
        }
        match command {
            Command::Acquire { .. } | Command::Yield { .. } => {
                owner.ballot.answered(node, at, reply(answer), time(now));
            }
            Command::Hold { .. } => {
                if let Answer::Held { token } = answer {
                    owner.ballot.restored(node, grant(token), at);
                }
            }
            Command::Renew { .. } => {
                let vote = match answer {
                    Answer::Held { token } => Vote::Yes(Answered {
                        at,
                        answer: grant(token),
                    }),
                    _ => Vote::No,
                };
                self.renewed(id, node, vote);
            }
            _ => {}
        }
        if answer == Answer::Marked(None) {
            self.begin_attempt(id);
        }
    }

    /// A node has answered a renewal, or never will.
    fn renewed(&mut self, id: Owner, node: usize, vote: Vote) {
        let owner = &mut self.owners[usize::from(id)];
        let Some(votes) = &mut owner.renewal else {
            return;
        };
        votes.note(node, vote);
        match votes.outcome() {
            Some(Outcome::Confirmed(Answered { at, .. })) => {
                let absent = votes.take_absent();
                owner.renew(at);
                if votes_are_in(owner) {
                    owner.renewal = None;
                }
                let Some(token) = owner.token() else {
                    return;
                };
                let ttl = owner.ttl();
                if owner.is_valid(self.now) {
                    for node in absent {
                        self.write(id, node, Command::Hold { ttl, token });
                    }
                }
            }
            Some(Outcome::Lost) => self.end(id),
            Some(Outcome::TooFew) | None => {
                if votes_are_in(owner) {
                    owner.renewal = None;
                }
            }
        }
    }

    fn run(&mut self, owner: Owner, node: usize, command: Command, model: &Quorum) -> Answer {
        let measured = self.owners[usize::from(owner)].counts[node].map(|(mut count, at)| {
            count.waited += self.now - at;
            count
        });
        let site = &mut self.nodes[node];
        let clock = (self.now + site.ahead, site.boot);
        let mut pushes = Vec::new();
        let mut run = |command| {
            let command = (owner, command);
            run(
                &mut site.records,
                clock,
                &model.rules(),
                command,
                &mut pushes,
            )
        };
        let mark = Command::Mark {
            new: site.losses,
            known: measured,
        };
        let answer = match command {
            Command::Mark { .. } => run(mark),
            command => match run(command) {
                // A client that finds an early node marks it.
                Answer::Early { .. } => run(mark),
                answer => answer,
            },
        };
        for pushed in pushes {
            let is_asking = self.owners[usize::from(pushed)].acquires();
            site.links[usize::from(pushed)].push |= is_asking;
        }
        answer
    }

    /// The connection breaks. Everything in flight is lost, or the commands arrive late.
    pub(super) fn tear(&mut self, id: Owner, node: u8, is_late: bool) {
        let place = usize::from(node);
        let link = &mut self.nodes[place].links[usize::from(id)];
        link.push = false;
        link.connection = ConnectionId(link.connection.0 + 1);
        let down = std::mem::take(&mut link.down);
        let up = std::mem::take(&mut link.up);
        let end = link.end.take();
        let late = up.iter().filter(|_| is_late);
        self.stray
            .extend(late.map(|&(command, _)| (id, node, command)));
        let down = down.into_iter().map(|(command, ..)| command);
        for command in down.chain(up.into_iter().map(|(command, _)| command)) {
            match command {
                Command::Acquire { .. } | Command::Yield { .. } => {
                    let ballot = &mut self.owners[usize::from(id)].ballot;
                    ballot.unanswered(place, &LOST);
                }
                Command::Renew { .. } => self.renewed(id, place, Vote::Failed(LOST)),
                _ => {}
            }
        }
        if let Some(end) = end {
            self.end_came_to(id, place, end, Event::Unavailable);
        }
    }

    /// A node restarts, empty or with its saved records. Its connections break.
    fn restart(&mut self, node: u8) {
        let site = &mut self.nodes[usize::from(node)];
        site.boot += 1;
        site.losses += 1;
        site.records = site.saved.take().unwrap_or_default();
        self.stray.retain(|&(_, to, _)| to != node);
        for owner in 0..self.owners.len() {
            self.tear(owner as Owner, node, false);
        }
    }

    pub(super) fn has_stray(&self, owner: Owner, node: u8) -> bool {
        let mut stray = self.stray.iter();
        stray.any(|&(of, to, _)| (of, to) == (owner, node))
    }
}

/// Whether a command can make its owner hold the node, or queue there.
pub(super) fn may_store(command: Command) -> bool {
    matches!(
        command,
        Command::Acquire { .. } | Command::Yield { .. } | Command::Hold { .. }
    )
}

fn votes_are_in(owner: &super::owner::Owner) -> bool {
    owner.renewal.as_ref().is_some_and(Votes::is_over)
}
