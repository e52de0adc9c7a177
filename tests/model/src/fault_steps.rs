//! The faults that may come next, and their effects.

use crate::backend::engine::local_queue::LocalQueue;
use crate::client::{Body, Phase};
use crate::conduct::Verdict;
use crate::configuration::Configuration;
use crate::faults::Fault;
use crate::network::{Incoming, Kind, Server};
use crate::server::{Command, Fence, Lock, Mode, Ours, OwnerId, Queue, Records, Ticks, Value};
use crate::world::{Action, World};

/// The impairments of the server.
const MODES: [Mode; 5] = [
    Mode::OutOfMemory,
    Mode::Migrating,
    Mode::LockWrong,
    Mode::FenceWrong,
    Mode::QueueWrong,
];

impl World {
    pub(crate) fn faults(&self, configuration: &Configuration, actions: &mut Vec<Action>) {
        self.faults_of_clients(configuration, actions);
        self.faults_of_server(actions);
        self.steps_of_slot(actions);
        if self.mode != Mode::Normal {
            actions.push(Action::Repair);
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
            if may(Fault::Try) && client.calls_left > 0 {
                actions.push(Action::ClientFault(Fault::Try, id));
            }
            if may(Fault::Crash) && !client.is_idle() {
                actions.push(Action::ClientFault(Fault::Crash, id));
            }
            if may(Fault::Unsubscribe) && client.subscribed && !client.is_idle() {
                actions.push(Action::ClientFault(Fault::Unsubscribe, id));
            }
            if may(Fault::Shutdown) && !client.owners.is_empty() {
                actions.push(Action::ClientFault(Fault::Shutdown, id));
            }
            let quiet = client.connection.up.is_empty() && client.connection.down.is_empty();
            // A break also ends a retained lease, and keeps a held one from being retained.
            let retains = configuration.retain > 0 && client.leases().next().is_some();
            if may(Fault::Tear) && (!quiet || retains) {
                actions.push(Action::ClientFault(Fault::Tear, id));
            }
            if may(Fault::Lose) {
                if !client.connection.up.is_empty() {
                    actions.push(Action::LoseRequest(id));
                }
                if !client.connection.down.is_empty() {
                    actions.push(Action::LoseIncoming(id));
                }
            }
            if may(Fault::Double) && !client.connection.up.is_empty() {
                actions.push(Action::Double(id));
            }
            if may(Fault::GiveUp) && client.queue.waiting() > 0 {
                actions.push(Action::GiveUpBehindHead(id));
            }
            for owner in &client.owners {
                if may(Fault::Timeout) && owner.awaits_reply {
                    actions.push(Action::TimeOut(id, owner.number));
                }
                let outside = match &owner.phase {
                    Phase::Competing(_) => true,
                    Phase::Held(lease) => lease.body == Body::Outside,
                    _ => false,
                };
                if may(Fault::GiveUp) && outside {
                    actions.push(Action::GiveUp(id, owner.number));
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
            Fault::DeleteBeside => self.beside.iter().any(|beside| beside.lock.is_some()),
            Fault::Revoke => self.records.ours().is_some(),
            Fault::LoseFence => self.records.fence.is_some(),
            Fault::LoseQueue => !self.records.queue.entries().is_empty(),
            Fault::LoseShares => self.records.shares.is_some(),
            Fault::Replicate => true,
            Fault::FailOver => self.replica.is_some() && self.source.is_none(),
            Fault::MoveSlot | Fault::TakeOver => self.source.is_none(),
            Fault::ClockBehind => !self.behind,
            Fault::ClockAhead | Fault::ClockBack => self.records != Records::default(),
            Fault::Restart | Fault::RestartEmpty => true,
            _ => false,
        };
        for &fault in Fault::ALL {
            if self.budget.allows(fault) && useful(fault) {
                actions.push(Action::ServerFault(fault));
            }
        }
    }

    pub(crate) fn fault(&mut self, action: Action, configuration: &Configuration) -> Verdict {
        let rules = configuration;
        match action {
            Action::GiveUp(id, number) => {
                self.budget.spend(Fault::GiveUp);
                self.on(id, number, |c, i| c.give_up(i, rules))
            }
            Action::GiveUpBehindHead(id) => {
                self.budget.spend(Fault::GiveUp);
                self.client(id).queue.leave_first();
                Ok(())
            }
            Action::TimeOut(id, number) => {
                self.budget.spend(Fault::Timeout);
                self.client(id).connection.stop_awaiting(number);
                self.client(id).unanswered(number, rules)
            }
            Action::LoseRequest(id) => {
                self.budget.spend(Fault::Lose);
                let lost = self.client(id).connection.up.remove(0);
                self.message_lost(id, lost.number, lost.kind, lost.awaited, configuration)
            }
            Action::LoseIncoming(id) => {
                self.budget.spend(Fault::Lose);
                let lost = self.client(id).connection.down.remove(0);
                let Some((number, kind)) = lost.command() else {
                    return Ok(());
                };
                self.message_lost(id, number, kind, true, configuration)
            }
            Action::Double(id) => {
                self.budget.spend(Fault::Double);
                let first = self.client(id).connection.up[0];
                let mut copy = first;
                copy.awaited = false;
                self.deliver(id, copy, configuration);
                self.client(id).sent_twice(first);
                Ok(())
            }
            Action::Impair(mode) => {
                self.budget.spend(Fault::Impair);
                self.impair(mode);
                Ok(())
            }
            Action::Repair => {
                self.repair();
                Ok(())
            }
            Action::ClientFault(fault, id) => {
                self.budget.spend(fault);
                self.client_fault(fault, id, configuration)
            }
            Action::ServerFault(fault) => {
                self.budget.spend(fault);
                self.server_fault(fault, configuration)
            }
            step => unreachable!("{step:?} is no fault"),
        }
    }

    /// A command will not be answered, since it or its answer is lost.
    fn message_lost(
        &mut self,
        id: u8,
        number: u8,
        kind: Kind,
        awaited: bool,
        configuration: &Configuration,
    ) -> Verdict {
        let client = self.client(id);
        if let Kind::Renew { .. } | Kind::Mint { .. } = kind {
            if let Some(index) = client.find(number)
                && let Phase::Held(lease) = &mut client.owners[index].phase
                && awaited
            {
                match kind {
                    Kind::Mint { .. } => lease.minting = false,
                    _ => lease.renewal_failed(configuration),
                }
            }
            return Ok(());
        }
        if awaited {
            client.unanswered(number, configuration)
        } else {
            Ok(())
        }
    }

    fn client_fault(&mut self, fault: Fault, id: u8, configuration: &Configuration) -> Verdict {
        let rules = configuration;
        let client = self.client(id);
        match fault {
            Fault::Try => {
                client.calls_left -= 1;
                client.try_once(rules)
            }
            Fault::Crash => {
                client.connection.tear(configuration.late);
                client.owners.clear();
                client.alive = false;
                client.calls_left = 0;
                client.shares_left.clear();
                (client.queue, client.sharing) = (LocalQueue::new(), LocalQueue::new());
                Ok(())
            }
            Fault::Tear => client.tear(rules),
            Fault::Unsubscribe => {
                client.subscribed = false;
                client
                    .connection
                    .down
                    .retain(|down| !matches!(down, Incoming::Push(..)));
                Ok(())
            }
            Fault::Shutdown => client.shut_down(rules),
            fault => unreachable!("{fault:?} concerns no client"),
        }
    }

    fn server_fault(&mut self, fault: Fault, configuration: &Configuration) -> Verdict {
        let foreign = |rest| {
            Some(Lock {
                value: Value::Foreign,
                rest,
            })
        };
        match fault {
            Fault::Flush => self.scripts = 0,
            Fault::Restart => return self.break_connections(configuration),
            Fault::RestartEmpty => {
                self.records = Records::default();
                return self.break_connections(configuration);
            }
            Fault::ForeignTake => self.records.lock = foreign(Some(configuration.ttl)),
            Fault::ForeignTakeForever => self.records.lock = foreign(None),
            Fault::Delete => self.records.lock = None,
            Fault::DeleteBeside => self.beside[0].lock = None,
            Fault::Revoke => self.revoke(configuration),
            Fault::LoseFence => self.records.fence = None,
            Fault::LoseQueue => self.records.queue = Queue::default(),
            Fault::LoseShares => self.records.shares = None,
            Fault::Replicate => self.replicate(configuration),
            Fault::FailOver => return self.fail_over(configuration),
            Fault::TakeOver => return self.take_over(configuration),
            Fault::MoveSlot => self.begin_to_move_slot(),
            Fault::ClockAhead => self.step_clock(2),
            Fault::ClockBack => self.step_clock(-2),
            Fault::ClockBehind => self.behind = true,
            fault => unreachable!("{fault:?} does not concern the server"),
        }
        Ok(())
    }

    /// One operator saw the previous grant, and another the present one. Both revoke.
    fn revoke(&mut self, configuration: &Configuration) {
        let Ours { token, owner, .. } = self.records.ours().expect("it is not foreign");
        let other = OwnerId {
            number: owner.number + 1,
            ..owner
        };
        let commands = match token {
            0 => [other, owner].map(|owner| Command::RevokeOwner { owner }),
            token => [token - configuration.turns, token].map(|seen| Command::Revoke { seen }),
        };
        for command in commands {
            self.run_command(Server::Target, command, self.mode, configuration);
        }
    }

    /// Every connection breaks, and the new process knows no script.
    pub(crate) fn break_connections(&mut self, configuration: &Configuration) -> Verdict {
        self.scripts = 0;
        for client in &mut self.clients {
            if client.alive {
                client.tear(configuration)?;
            } else {
                client.subscribed = false;
            }
        }
        Ok(())
    }

    /// Replaces a key by a key of another type.
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

    pub(crate) fn repair(&mut self) {
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
