//! The steps of the nodes, the owners and the network.

use super::ballot::{Phase, Verdict};
use super::records::{Owner, Records};
use super::scripts::{Answer, Command, run};
use super::world::World;
use super::{Quorum, Step, TOKENS_RISE};

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
                if link.up.is_some() || link.end.is_some() && !self.has_stray(owner, node) {
                    steps.push(Step::Deliver(owner, node));
                }
                if link.up.is_some() && self.budget.slow > 0 {
                    steps.push(Step::DeliverSlow(owner, node));
                }
                if link.down.is_some() {
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
            match owner.phase {
                Phase::Acquires if begun => {
                    if self.budget.polls > 0 {
                        let asks = (0..self.nodes.len())
                            .filter(|&node| owner.poll(node, self.now, model.mistake).is_some());
                        steps.extend(asks.map(|node| Step::Poll(id, node as u8)));
                    }
                    if self.budget.give_ups > 0 {
                        steps.push(Step::GiveUp(id));
                    }
                }
                Phase::Holds(_) => {
                    if self.budget.renewals > 0 {
                        steps.push(Step::Renew(id));
                    }
                    steps.push(Step::Release(id));
                }
                Phase::Acquires | Phase::Ended => {}
            }
        }
    }

    fn possible_breaks(&self, steps: &mut Vec<Step>) {
        for (node, site) in (0..).zip(&self.nodes) {
            for (owner, link) in (0..).zip(&site.links) {
                if link.up.is_some() {
                    steps.push(Step::BreakLate(owner, node));
                }
                if link.up.is_some() || link.down.is_some() || link.push {
                    steps.push(Step::Break(owner, node));
                }
            }
        }
    }

    /// Does one step.
    pub(super) fn step(&mut self, step: Step, model: &Quorum) {
        match step {
            Step::Tick => self.now += 1,
            Step::Arrive(owner) => {
                self.absent.retain(|&absent| absent != owner);
                for node in 0..self.nodes.len() {
                    self.poll(owner, node, model);
                }
            }
            Step::Poll(owner, node) => {
                self.budget.polls -= 1;
                self.poll(owner, node.into(), model);
            }
            Step::Deliver(owner, node) => {
                self.deliver(owner, node.into(), model);
                self.receive(owner, node, model);
            }
            Step::DeliverSlow(owner, node) => {
                self.budget.slow -= 1;
                self.deliver(owner, node.into(), model);
            }
            Step::Receive(owner, node) => self.receive(owner, node, model),
            Step::ReadPush(owner, node) => {
                self.nodes[usize::from(node)].links[usize::from(owner)].push = false;
                self.owners[usize::from(owner)].notified(node.into());
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
                for node in 0..self.nodes.len() {
                    let renewal = self.owners[usize::from(owner)].renewal(node);
                    if let Some(renewal) = renewal {
                        self.send(owner, node, renewal);
                    }
                }
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

    /// Each owner does what its ballot says.
    fn decide(&mut self, model: &Quorum) {
        let (now, mistake) = (self.now, model.mistake);
        for id in 0..self.owners.len() {
            if self.absent.contains(&(id as Owner)) {
                continue;
            }
            let owner = &mut self.owners[id];
            match owner.phase {
                Phase::Acquires => {
                    if let Verdict::Has { token, .. } = owner.verdict(now, mistake) {
                        owner.phase = Phase::Holds(token);
                        if token <= self.highest {
                            self.breach = Some(TOKENS_RISE);
                        }
                        self.highest = self.highest.max(token);
                    }
                }
                Phase::Holds(_) => {
                    let recreates = mistake == Some(super::Mistake::LostHolderRecreates);
                    if !owner.is_valid(now, mistake) && !recreates {
                        self.end(id as Owner);
                    }
                }
                Phase::Ended => {}
            }
            for node in 0..self.nodes.len() {
                if let Some(command) = self.owners[id].next(node, now, mistake) {
                    self.send(id as Owner, node, command);
                }
            }
        }
    }

    pub(super) fn poll(&mut self, owner: Owner, node: usize, model: &Quorum) {
        let command = self.owners[usize::from(owner)].poll(node, self.now, model.mistake);
        if let Some(command) = command {
            self.send(owner, node, command);
        }
    }

    fn send(&mut self, owner: Owner, node: usize, command: Command) {
        self.owners[usize::from(owner)].sent(node, command, self.now);
        self.nodes[node].links[usize::from(owner)].up = Some(command);
    }

    pub(super) fn end(&mut self, owner: Owner) {
        let end = self.owners[usize::from(owner)].end(self.now);
        for node in &mut self.nodes {
            let link = &mut node.links[usize::from(owner)];
            link.down = None;
            link.push = false;
            link.end = Some(end);
        }
    }

    fn deliver(&mut self, owner: Owner, node: usize, model: &Quorum) {
        let link = &mut self.nodes[node].links[usize::from(owner)];
        let has_ended = link.end.is_some();
        let Some(command) = link.up.take().or_else(|| link.end.take()) else {
            return;
        };
        let answer = self.run(owner, node, command, model);
        if !has_ended {
            self.nodes[node].links[usize::from(owner)].down = Some(answer);
        }
    }

    fn receive(&mut self, owner: Owner, node: u8, model: &Quorum) {
        let link = &mut self.nodes[usize::from(node)].links[usize::from(owner)];
        if let Some(answer) = link.down.take() {
            let ballot = &mut self.owners[usize::from(owner)];
            ballot.answered(node.into(), answer, self.now, model.mistake);
        }
    }

    fn run(&mut self, owner: Owner, node: usize, command: Command, model: &Quorum) -> Answer {
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
        let mark = |known| Command::Mark {
            new: site.losses,
            known,
        };
        let answer = match command {
            Command::Mark { known, .. } => run(mark(known)),
            command => match run(command) {
                // A client that finds an early node marks it.
                Answer::Early { .. } => run(mark(None)),
                answer => answer,
            },
        };
        for pushed in pushes {
            let is_asking = self.owners[usize::from(pushed)].phase == Phase::Acquires;
            site.links[usize::from(pushed)].push |= is_asking;
        }
        answer
    }

    /// The connection breaks. What was under way is lost, or the command is late.
    pub(super) fn tear(&mut self, owner: Owner, node: u8, is_late: bool) {
        let link = &mut self.nodes[usize::from(node)].links[usize::from(owner)];
        link.down = None;
        link.push = false;
        let command = link.up.take();
        self.stray.extend(
            command
                .filter(|_| is_late)
                .map(|command| (owner, node, command)),
        );
        self.owners[usize::from(owner)].unanswered(node.into());
    }

    /// A node restarts: empty, or with what it had saved. Its connections break.
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

    fn has_stray(&self, owner: Owner, node: u8) -> bool {
        let mut stray = self.stray.iter();
        stray.any(|&(of, to, _)| (of, to) == (owner, node))
    }
}
