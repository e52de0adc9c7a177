//! Which faults may come next, and what each of them does.

use crate::client::{Body, Phase};
use crate::conduct::Sent;
use crate::configuration::Configuration;
use crate::faults::Fault;
use crate::network::{Down, Kind};
use crate::server::{Fence, Lock, Mode, Queue, Records, Ticks, Value};
use crate::world::{Action, World};

/// What the server may be kept from.
const MODES: [Mode; 5] = [
    Mode::OutOfMemory,
    Mode::Migrating,
    Mode::LockWrong,
    Mode::FenceWrong,
    Mode::QueueWrong,
];

impl World {
    /// The faults that may come next.
    pub(crate) fn faults(&self, configuration: &Configuration, actions: &mut Vec<Action>) {
        self.faults_of_clients(configuration, actions);
        self.faults_of_server(actions);
        if self.mode != Mode::Normal {
            actions.push(Action::Mend);
        } else if self.budget.allows(Fault::Impair) {
            let modes = MODES
                .iter()
                .filter(|mode| configuration.modes.contains(mode));
            actions.extend(modes.map(|&mode| Action::Impair(mode)));
        }
    }

    fn faults_of_clients(&self, configuration: &Configuration, actions: &mut Vec<Action>) {
        let may = |fault| self.budget.allows(fault);
        for (id, client) in (0..).zip(&self.clients).filter(|(_, client)| client.alive) {
            if may(Fault::Try) && client.to_come > 0 {
                actions.push(Action::Strike(Fault::Try, id));
            }
            if may(Fault::Crash) && !client.is_idle() {
                actions.push(Action::Strike(Fault::Crash, id));
            }
            if may(Fault::Unsubscribe) && client.heard && !client.is_idle() {
                actions.push(Action::Strike(Fault::Unsubscribe, id));
            }
            if may(Fault::Shutdown) && !client.episodes.is_empty() {
                actions.push(Action::Strike(Fault::Shutdown, id));
            }
            let quiet = client.link.up.is_empty() && client.link.down.is_empty();
            // What is held is not retained after that, and what is retained ends.
            let retains = configuration.retain > 0 && client.holds().next().is_some();
            if may(Fault::Tear) && (!quiet || retains) {
                actions.push(Action::Strike(Fault::Tear, id));
            }
            if may(Fault::Lose) {
                if !client.link.up.is_empty() {
                    actions.push(Action::LoseRequest(id));
                }
                if !client.link.down.is_empty() {
                    actions.push(Action::LoseDown(id));
                }
            }
            if may(Fault::Double) && !client.link.up.is_empty() {
                actions.push(Action::Double(id));
            }
            if may(Fault::GiveUp) && !client.line.is_empty() {
                actions.push(Action::LeaveLine(id));
            }
            for episode in &client.episodes {
                if may(Fault::Timeout) && episode.waiting {
                    actions.push(Action::TimeOut(id, episode.number));
                }
                let outside = match &episode.phase {
                    Phase::Competing { .. } => true,
                    Phase::Held(hold) => hold.body == Body::Outside,
                    _ => false,
                };
                if may(Fault::GiveUp) && outside {
                    actions.push(Action::GiveUp(id, episode.number));
                }
            }
        }
    }

    fn faults_of_server(&self, actions: &mut Vec<Action>) {
        let free = self.records.lock.is_none();
        let useful = |fault| match fault {
            Fault::Flush => self.scripts != 0,
            Fault::ForeignTake | Fault::ForeignTakeForever => free,
            Fault::Delete => !free,
            Fault::LoseFence => self.records.fence.is_some(),
            Fault::LoseQueue => !self.records.queue.entries().is_empty(),
            Fault::Replicate => true,
            Fault::FailOver => self.replica.is_some(),
            Fault::ClockBehind => !self.behind,
            Fault::ClockAhead | Fault::ClockBack => self.records != Records::default(),
            Fault::Restart | Fault::RestartEmpty => true,
            _ => false,
        };
        let faults = [
            Fault::Flush,
            Fault::Restart,
            Fault::RestartEmpty,
            Fault::ForeignTake,
            Fault::ForeignTakeForever,
            Fault::Delete,
            Fault::LoseFence,
            Fault::LoseQueue,
            Fault::Replicate,
            Fault::FailOver,
            Fault::ClockAhead,
            Fault::ClockBack,
            Fault::ClockBehind,
        ];
        for fault in faults {
            if self.budget.allows(fault) && useful(fault) {
                actions.push(Action::Happen(fault));
            }
        }
    }

    pub(crate) fn fault(&mut self, action: Action, configuration: &Configuration) -> Sent {
        let terms = configuration.terms();
        match action {
            Action::GiveUp(id, number) => {
                self.budget.spend(Fault::GiveUp);
                self.on(id, number, |c, i| c.give_up(i, &terms))
            }
            Action::LeaveLine(id) => {
                self.budget.spend(Fault::GiveUp);
                self.client(id).line.pop();
                Ok(())
            }
            Action::TimeOut(id, number) => {
                self.budget.spend(Fault::Timeout);
                self.client(id).link.mute(number);
                self.client(id).unanswered(number, &terms)
            }
            Action::LoseRequest(id) => {
                self.budget.spend(Fault::Lose);
                let lost = self.client(id).link.up.remove(0);
                self.silence(id, lost.number, lost.kind, lost.wanted, configuration)
            }
            Action::LoseDown(id) => {
                self.budget.spend(Fault::Lose);
                match self.client(id).link.down.remove(0) {
                    Down::Push(_) => Ok(()),
                    Down::Reply(reply) => {
                        self.silence(id, reply.number, reply.kind, true, configuration)
                    }
                }
            }
            Action::Double(id) => {
                self.budget.spend(Fault::Double);
                let first = self.client(id).link.up[0];
                let mut unheard = first;
                unheard.wanted = false;
                self.deliver(id, unheard, configuration);
                Ok(())
            }
            Action::Impair(mode) => {
                self.budget.spend(Fault::Impair);
                self.impair(mode);
                Ok(())
            }
            Action::Mend => {
                self.mend();
                Ok(())
            }
            Action::Strike(fault, id) => {
                self.budget.spend(fault);
                self.strike(fault, id, configuration)
            }
            Action::Happen(fault) => {
                self.budget.spend(fault);
                self.happen(fault, configuration)
            }
            step => unreachable!("{step:?} is no fault"),
        }
    }

    /// A command will not be answered, because it or its answer is lost.
    fn silence(
        &mut self,
        id: u8,
        number: u8,
        kind: Kind,
        wanted: bool,
        configuration: &Configuration,
    ) -> Sent {
        let client = self.client(id);
        if let Kind::Renew { .. } = kind {
            if let Some(index) = client.find(number)
                && let Phase::Held(hold) = &mut client.episodes[index].phase
            {
                hold.renewing = false;
            }
            return Ok(());
        }
        if wanted {
            client.unanswered(number, &configuration.terms())
        } else {
            Ok(())
        }
    }

    fn strike(&mut self, fault: Fault, id: u8, configuration: &Configuration) -> Sent {
        let terms = configuration.terms();
        let client = self.client(id);
        match fault {
            Fault::Try => {
                client.to_come -= 1;
                client.try_once(&terms)
            }
            Fault::Crash => {
                client.link.tear(configuration.late);
                client.episodes.clear();
                (client.alive, client.headed) = (false, false);
                client.to_come = 0;
                client.line.clear();
                Ok(())
            }
            Fault::Tear => client.tear(configuration.late, &terms),
            Fault::Unsubscribe => {
                client.heard = false;
                client
                    .link
                    .down
                    .retain(|down| matches!(down, Down::Reply(_)));
                Ok(())
            }
            Fault::Shutdown => client.shut_down(&terms),
            fault => unreachable!("{fault:?} concerns no client"),
        }
    }

    fn happen(&mut self, fault: Fault, configuration: &Configuration) -> Sent {
        let foreign = |rest| {
            Some(Lock {
                value: Value::Foreign,
                rest,
            })
        };
        match fault {
            Fault::Flush => self.scripts = 0,
            Fault::Restart => return self.break_all(configuration),
            Fault::RestartEmpty => {
                self.records = Records::default();
                return self.break_all(configuration);
            }
            Fault::ForeignTake => self.records.lock = foreign(Some(configuration.ttl)),
            Fault::ForeignTakeForever => self.records.lock = foreign(None),
            Fault::Delete => self.records.lock = None,
            Fault::LoseFence => self.records.fence = None,
            Fault::LoseQueue => self.records.queue = Queue::default(),
            Fault::Replicate => self.replica = Some(self.records.clone()),
            Fault::FailOver => {
                self.records = self.replica.take().expect("there is one");
                return self.break_all(configuration);
            }
            Fault::ClockAhead => self.step_clock(2),
            Fault::ClockBack => self.step_clock(-2),
            Fault::ClockBehind => self.behind = true,
            fault => unreachable!("{fault:?} does not concern the server"),
        }
        Ok(())
    }

    /// Every connection breaks, and the new process knows no script.
    fn break_all(&mut self, configuration: &Configuration) -> Sent {
        self.scripts = 0;
        for client in &mut self.clients {
            if client.alive {
                client.tear(configuration.late, &configuration.terms())?;
            } else {
                client.heard = false;
            }
        }
        Ok(())
    }

    /// A key of another type takes the place of the one that was there.
    fn impair(&mut self, mode: Mode) {
        self.mode = mode;
        match mode {
            Mode::LockWrong => {
                self.records.lock = Some(Lock {
                    value: Value::WrongType,
                    rest: None,
                });
            }
            Mode::FenceWrong => self.records.fence = Some(Fence::WrongType),
            Mode::QueueWrong => self.records.queue = Queue::WrongType,
            Mode::Normal | Mode::OutOfMemory | Mode::Migrating => {}
        }
    }

    pub(crate) fn mend(&mut self) {
        match std::mem::take(&mut self.mode) {
            Mode::LockWrong => self.records.lock = None,
            Mode::FenceWrong => self.records.fence = None,
            Mode::QueueWrong => self.records.queue = Queue::default(),
            Mode::Normal | Mode::OutOfMemory | Mode::Migrating => {}
        }
    }

    fn step_clock(&mut self, ticks: Ticks) {
        self.records.advance(ticks);
        self.records.forget_since_when();
    }
}
