//! The steps, and what must hold after each.

use super::caller::{Answered, Caller, Kind, Lease, Phase, Sent};
use super::{
    ALL_FREED, ALL_RENEWED, IN_ORDER, LATER_SEEN, LOCKS, Mistake, RULES, Several, Step,
    TOKENS_RISE, TTL, World,
};
use crate::backend::engine::competing::event::Event as OfCall;
use crate::backend::wire::PRESENT;
use crate::conduct::{event_of, granted};
use crate::network::Kind as OfOne;
use crate::server::{
    Answer, Fence, KeysCommand, Lock, Mode, OwnerId, Records, Site, Token, Value, run_keys,
};

impl World {
    /// Appends the steps that may come next.
    pub(super) fn possible(&self, steps: &mut Vec<Step>) {
        if self.callers.iter().all(Caller::may_wait) {
            steps.push(Step::Tick);
        }
        for (id, caller) in (0..).zip(&self.callers) {
            if !caller.up.is_empty() {
                steps.push(Step::Deliver(id));
            }
            if !caller.stray.is_empty() {
                steps.extend([Step::DeliverStray(id), Step::LoseStray(id)]);
            }
            if caller.alive {
                self.possible_of(id, caller, steps);
            }
        }
        if self.budget.deletions > 0 {
            let held = (0..LOCKS).filter(|&lock| self.locks[lock].lock.is_some());
            steps.extend(held.map(Step::Delete));
        }
    }

    fn possible_of(&self, id: u8, caller: &Caller, steps: &mut Vec<Step>) {
        let budget = &self.budget;
        if !caller.down.is_empty() {
            steps.push(Step::Receive(id));
        }
        if caller.calls_left > 0 && caller.owners.is_empty() {
            steps.push(Step::Arrive(id));
        }
        for owner in &caller.owners {
            match &owner.phase {
                Phase::Waits(_) => {
                    if !owner.awaits {
                        steps.push(Step::Poll(id));
                    }
                    if budget.give_ups > 0 {
                        steps.push(Step::GiveUp(id));
                    }
                }
                Phase::Held(_, lease) if lease.deadline == 0 => steps.push(Step::Lose(id)),
                Phase::Held(_, lease) => {
                    steps.push(if lease.inside {
                        Step::Finish(id)
                    } else {
                        Step::Start(id)
                    });
                    if budget.renewals > 0 && !lease.holding.is_renewing() {
                        steps.push(Step::Renew(id));
                    }
                }
                Phase::Ending(..) if !owner.awaits => steps.push(Step::EndAgain(id, owner.number)),
                Phase::Ending(..) => {}
            }
        }
        if budget.tears > 0 && id == 0 && !(caller.up.is_empty() && caller.down.is_empty()) {
            steps.push(Step::Tear(id));
        }
        if budget.crashes > 0 && !caller.owners.is_empty() {
            steps.push(Step::Crash(id));
        }
    }

    /// Does one step.
    pub(super) fn step(&mut self, step: Step, model: &Several) {
        self.breach = None;
        match step {
            Step::Tick => {
                for records in &mut self.locks {
                    records.advance(1);
                    records.forget_since_when();
                }
                self.callers.iter_mut().for_each(Caller::tick);
            }
            Step::Arrive(id) => {
                let locks = model.callers[usize::from(id)].0.len();
                let caller = self.caller(id);
                caller.calls_left -= 1;
                caller.begin(locks);
            }
            Step::Poll(id) => self.on_present(id, Caller::poll),
            Step::Start(id) => self.start(id, model),
            // The release of a lost lease asks whether any of its locks is left.
            Step::Finish(id) | Step::Lose(id) => self.on_present(id, Caller::release),
            Step::Renew(id) => {
                self.budget.renewals -= 1;
                self.on_present(id, |caller, index| {
                    if let Phase::Held(_, lease) = &mut caller.owners[index].phase {
                        lease.holding.renews();
                    }
                    caller.send(index, Kind::Renew);
                });
            }
            Step::GiveUp(id) => {
                self.budget.give_ups -= 1;
                self.on_present(id, Caller::leave);
            }
            Step::EndAgain(id, number) => {
                let caller = self.caller(id);
                let index = caller.find(number).expect("the step names an owner");
                caller.end_again(index);
            }
            Step::Receive(id) => self.receive(id, model),
            Step::Deliver(id) => {
                let sent = self.caller(id).up.remove(0);
                let answered = self.deliver(id, sent, model);
                let caller = self.caller(id);
                if caller.alive {
                    caller.down.push(answered);
                }
            }
            Step::DeliverStray(id) => {
                let (sent, _) = self.caller(id).stray.remove(0);
                self.deliver(id, sent, model);
            }
            Step::LoseStray(id) => drop(self.caller(id).stray.remove(0)),
            Step::Tear(id) => {
                self.budget.tears -= 1;
                self.caller(id).tear();
            }
            Step::Crash(id) => {
                self.budget.crashes -= 1;
                let caller = self.caller(id);
                caller.tear();
                caller.alive = false;
                caller.owners.clear();
            }
            Step::Delete(lock) => {
                self.budget.deletions -= 1;
                self.locks[lock].lock = None;
            }
        }
    }

    fn caller(&mut self, id: u8) -> &mut Caller {
        &mut self.callers[usize::from(id)]
    }

    fn on_present(&mut self, id: u8, act: impl FnOnce(&mut Caller, usize)) {
        let caller = self.caller(id);
        let index = caller.present().expect("a call is under way");
        act(caller, index);
    }

    fn start(&mut self, id: u8, model: &Several) {
        let mut token = 0;
        self.on_present(id, |caller, index| {
            if let Phase::Held(_, lease) = &mut caller.owners[index].phase {
                lease.inside = true;
                token = lease.token;
            }
        });
        for lock in model.order(usize::from(id)) {
            self.highest[lock] = self.highest[lock].max(token);
        }
    }

    /// The server runs a command.
    fn deliver(&mut self, id: u8, sent: Sent, model: &Several) -> Answered {
        let Sent { number, kind, age } = sent;
        let owner = OwnerId { client: id, number };
        let command = match kind {
            Kind::Acquire => KeysCommand::Acquire {
                owner,
                ttl: TTL,
                queue: true,
            },
            Kind::Renew => KeysCommand::Renew { owner, ttl: TTL },
            Kind::Release => KeysCommand::Release { owner },
            Kind::End => KeysCommand::End { owner },
        };
        let receivers = (0..).zip(&self.callers);
        let site = Site {
            now: 0,
            receivers: receivers
                .map(|(id, caller)| u8::from(caller.alive) << id)
                .sum(),
            mode: Mode::Normal,
        };
        let order = model.order(usize::from(id));
        let mut locks: Vec<Records> = order
            .iter()
            .map(|&lock| std::mem::take(&mut self.locks[lock]))
            .collect();
        let held_before = locks.iter().all(|lock| lock.holder() == Some(owner));
        let run = run_keys(&mut locks, command, &RULES, &site, model.in_script());
        let any_after = locks.iter().any(|lock| lock.holder() == Some(owner));
        let later = locks.get(run.in_the_way + 1..).unwrap_or_default();
        let any_later = later.iter().any(|lock| lock.holder() == Some(owner));
        let bodies = order.iter().map(|&lock| self.highest[lock]).max();
        for (lock, records) in order.into_iter().zip(locks) {
            self.locks[lock] = records;
        }
        match (kind, run.answer) {
            (Kind::Acquire, Answer::Held { token, .. })
                if !held_before && Some(token) <= bodies =>
            {
                self.breach = Some(TOKENS_RISE);
            }
            (Kind::Renew, Answer::Held { .. }) if !held_before => self.breach = Some(ALL_RENEWED),
            (Kind::Acquire, Answer::Waiting { .. }) if any_later && !run.holds_later => {
                self.breach = Some(LATER_SEEN);
            }
            (Kind::Release, Answer::Code(1)) if any_after => self.breach = Some(ALL_FREED),
            _ => {}
        }
        Answered {
            number,
            kind,
            answer: plain(run.answer),
            in_the_way: run.in_the_way as u8,
            holds_later: run.holds_later,
            // A lease counts from it.
            age: if matches!(run.answer, Answer::Held { .. }) {
                age
            } else {
                0
            },
        }
    }

    /// A client reads its next answer.
    fn receive(&mut self, id: u8, model: &Several) {
        let caller = self.caller(id);
        let connection = caller.connection;
        let Answered {
            number,
            kind,
            answer,
            in_the_way: named,
            holds_later,
            age,
        } = caller.down.remove(0);
        let Some(index) = caller.find(number) else {
            return;
        };
        if kind == Kind::Acquire {
            caller.outstanding(index).answered(connection);
        }
        match (kind, &mut caller.owners[index].phase) {
            (Kind::Acquire, Phase::Waits(competing)) => {
                if model.mistake == Some(Mistake::LossUnnoticed) {
                    competing.forget_what_it_had();
                }
                let lock = usize::from(named);
                let holds_later = holds_later && model.mistake != Some(Mistake::LossUnnoticed);
                let Answer::Held { flagged, token } = answer else {
                    caller.competes(index, OfCall::Waiting { lock, holds_later }, 0);
                    if caller.waits_as(number) {
                        self.check_order(id, number, named, model);
                    }
                    return;
                };
                let grant = granted(flagged, token);
                caller.competes(index, OfCall::Granted(grant), age);
            }
            (Kind::Renew, Phase::Held(_, lease)) => match answer {
                Answer::Held { flagged, .. } => {
                    lease.holding.confirmed(false);
                    if lease.deadline > 0 {
                        lease.deadline = lease.deadline.max(TTL - age);
                        lease.holding.note_contended(flagged);
                    }
                }
                Answer::Nil => caller.release(index),
                _ => drop(lease.holding.unanswered()),
            },
            (Kind::Release | Kind::End, Phase::Ending(..)) => {
                let kind = match kind {
                    Kind::Release => OfOne::Release,
                    _ => OfOne::End { successor: None },
                };
                caller.ended(index, event_of(kind, answer));
            }
            _ => {}
        }
    }

    /// A caller that goes on waiting for a lock holds none after it. A command that arrives late may take one after
    /// the answer; the next poll says so.
    fn check_order(&mut self, id: u8, number: u8, named: u8, model: &Several) {
        let me = OwnerId { client: id, number };
        let order = model.order(usize::from(id));
        let mut after = order[usize::from(named) + 1..].iter();
        if model.budget.tears == 0 && after.any(|&lock| self.locks[lock].holder() == Some(me)) {
            self.breach = Some(IN_ORDER);
        }
    }

    /// The callers inside within their deadlines.
    fn inside(&self) -> impl Iterator<Item = (usize, u8, Lease)> {
        let leases = (0..).zip(&self.callers);
        leases.filter_map(|(id, caller)| {
            let (number, lease) = caller.lease()?;
            (caller.alive && lease.inside && lease.deadline > 0).then_some((id, number, lease))
        })
    }

    pub(super) fn is_exclusive(&self, model: &Several) -> bool {
        self.inside().all(|(one, ..)| {
            self.inside().all(|(other, ..)| {
                let others = model.order(other);
                one == other || model.order(one).iter().all(|lock| !others.contains(lock))
            })
        })
    }

    /// Whether the server keeps all locks of each holder for as long as the holder relies on them.
    pub(super) fn is_backed(&self, model: &Several) -> bool {
        let mut leases = (0..).zip(&self.callers);
        leases.all(|(id, caller)| {
            let Some((number, lease)) = caller.lease() else {
                return true;
            };
            let me = OwnerId {
                client: id as u8,
                number,
            };
            lease.deadline == 0
                || model.order(id).iter().all(|&lock| {
                    let records = &self.locks[lock];
                    let rest = records.lock.and_then(|lock| lock.rest);
                    records.holder() == Some(me) && rest >= Some(lease.deadline)
                })
        })
    }

    /// Whether nothing is left of an owner that its client has forgotten, and that no command can bring back.
    pub(super) fn has_no_phantom(&self) -> bool {
        let known = |owner: OwnerId| {
            let caller = &self.callers[usize::from(owner.client)];
            let under_way = caller.stray.iter().map(|(sent, _)| sent).chain(&caller.up);
            !caller.alive
                || caller.find(owner.number).is_some()
                || under_way
                    .into_iter()
                    .any(|sent| sent.number == owner.number)
        };
        self.locks.iter().all(|records| {
            // A dead entry stays until a script walks the queue.
            let entries = records.queue.entries().iter();
            let live = entries.filter(|entry| entry.is_live());
            let owners = live.map(|entry| entry.owner);
            records.holder().into_iter().chain(owners).all(known)
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.callers.iter().all(Caller::is_idle)
            && self
                .locks
                .iter()
                .all(|records| records.lock.is_none() && records.queue.entries().is_empty())
    }

    /// Makes states equal that differ only in the numbers of tokens and owners.
    pub(super) fn reduce(&mut self) {
        let mut tokens: Vec<Token> = vec![0];
        self.each_token(|token| tokens.push(*token));
        tokens.sort_unstable();
        tokens.dedup();
        let rank = |token: Token| tokens.partition_point(|&other| other < token) as Token;
        self.each_token(|token| *token = rank(*token));
        for id in 0..self.callers.len() {
            let mut numbers: Vec<u8> = Vec::new();
            self.each_number(id as u8, |number| numbers.push(*number));
            numbers.sort_unstable();
            numbers.dedup();
            let rank = |number: u8| numbers.partition_point(|&other| other < number) as u8;
            self.each_number(id as u8, |number| *number = rank(*number));
            let caller = &mut self.callers[id];
            caller.next_number = numbers.len() as u8;
            let present = std::mem::replace(&mut caller.connection, PRESENT);
            for owner in &mut caller.owners {
                match &mut owner.phase {
                    Phase::Waits(competing) => competing.reduce_several(present, !owner.awaits),
                    Phase::Held(outstanding, _) => outstanding.reduce(present, false, false),
                    Phase::Ending(outstanding, ending) => {
                        outstanding.reduce(present, true, false);
                        ending.reduce();
                    }
                }
            }
        }
    }

    fn each_token(&mut self, mut act: impl FnMut(&mut Token)) {
        for records in &mut self.locks {
            if let Some(Lock {
                value: Value::Ours { token, .. },
                ..
            }) = &mut records.lock
            {
                act(token);
            }
            if let Some(Fence::Token { token, .. }) = &mut records.fence {
                act(token);
            }
        }
        self.highest.iter_mut().for_each(&mut act);
        for caller in &mut self.callers {
            for owner in &mut caller.owners {
                if let Phase::Held(_, lease) = &mut owner.phase {
                    act(&mut lease.token);
                }
            }
            for answered in &mut caller.down {
                if let Answer::Held { token, .. } = &mut answered.answer {
                    act(token);
                }
            }
        }
    }

    fn each_number(&mut self, id: u8, mut act: impl FnMut(&mut u8)) {
        for records in &mut self.locks {
            if let Some(Lock {
                value: Value::Ours { owner, .. },
                ..
            }) = &mut records.lock
                && owner.client == id
            {
                act(&mut owner.number);
            }
            for entry in records.queue.entries_mut() {
                if entry.owner.client == id {
                    act(&mut entry.owner.number);
                }
            }
        }
        let caller = &mut self.callers[usize::from(id)];
        let owners = caller.owners.iter_mut().map(|owner| &mut owner.number);
        let up = caller.up.iter_mut().map(|sent| &mut sent.number);
        let down = caller.down.iter_mut().map(|answered| &mut answered.number);
        let stray = caller.stray.iter_mut().map(|(sent, _)| &mut sent.number);
        owners.chain(up).chain(down).chain(stray).for_each(act);
    }
}

/// An answer without what no client looks at.
fn plain(answer: Answer) -> Answer {
    match answer {
        Answer::Waiting { .. } => Answer::Waiting {
            remaining: None,
            position: 0,
        },
        answer => answer,
    }
}
