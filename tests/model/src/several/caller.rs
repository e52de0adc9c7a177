//! A client with one caller at a time: its owners, and its connection.

use std::time::Duration;

use super::{CLAIM, DELAY, LATE, LIVE, QUEUE, TTL};
use crate::backend::engine::competing::Competing;
use crate::backend::engine::competing::call::Call;
use crate::backend::engine::competing::command::{Command, Pause};
use crate::backend::engine::competing::event::Event as OfCall;
use crate::backend::engine::ending::{Command as OfEnd, Ending, Event, Then};
use crate::backend::engine::handoff::{Handoff, Left};
use crate::backend::engine::holding::Holding;
use crate::backend::engine::{JITTER, NOW, NOW_HELD};
use crate::backend::wire::PRESENT;
use crate::backend::wire::outstanding::{ConnectionId, Outstanding};
use crate::server::{Answer, Ticks, Token};

/// A tick as the runtime's decisions have it: an owner is settled for four of them.
const TICK: Duration = Duration::from_millis(2_500);

fn duration(ticks: Ticks) -> Duration {
    TICK * ticks.unsigned_abs()
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    pub(super) alive: bool,
    pub(super) calls_left: u8,
    pub(super) next_number: u8,
    /// The owner of the present call, and those that are being ended.
    pub(super) owners: Vec<Owner>,
    /// The present connection.
    pub(super) connection: ConnectionId,
    pub(super) up: Vec<Sent>,
    pub(super) down: Vec<Answered>,
    /// Commands of earlier connections, and for how long each may still arrive.
    pub(super) stray: Vec<(Sent, Ticks)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) number: u8,
    /// A command other than a renewal is unanswered.
    pub(super) awaits: bool,
    pub(super) phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Waits(Competing<Outstanding>),
    Held(Outstanding, Lease),
    Ending(Outstanding, Ending),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lease {
    pub(super) token: Token,
    /// How long its holder relies on it.
    pub(super) deadline: Ticks,
    pub(super) inside: bool,
    pub(super) holding: Holding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Acquire,
    Renew,
    Release,
    End,
}

/// A command on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    pub(super) number: u8,
    pub(super) kind: Kind,
    pub(super) age: Ticks,
}

/// An answer on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Answered {
    pub(super) number: u8,
    pub(super) kind: Kind,
    pub(super) answer: Answer,
    pub(super) in_the_way: u8,
    pub(super) holds_later: bool,
    /// The time since the command was sent.
    pub(super) age: Ticks,
}

impl Caller {
    pub(super) fn new(calls: u8) -> Caller {
        Caller {
            alive: true,
            calls_left: calls,
            next_number: 0,
            owners: Vec::new(),
            connection: PRESENT,
            up: Vec::new(),
            down: Vec::new(),
            stray: Vec::new(),
        }
    }

    /// The owner of the present call.
    pub(super) fn present(&self) -> Option<usize> {
        let is_ending = |owner: &Owner| matches!(owner.phase, Phase::Ending(..));
        self.owners.iter().position(|owner| !is_ending(owner))
    }

    /// The lock that the caller waits for, as far as it knows.
    pub(super) fn in_the_way(&self) -> Option<usize> {
        match &self.owners[self.present()?].phase {
            Phase::Waits(competing) => competing.in_the_way(),
            _ => None,
        }
    }

    /// The owner that holds, and its lease.
    pub(super) fn lease(&self) -> Option<(u8, Lease)> {
        let owner = &self.owners[self.present()?];
        match owner.phase {
            Phase::Held(_, lease) => Some((owner.number, lease)),
            _ => None,
        }
    }

    /// Whether the present call waits with this owner.
    pub(super) fn waits_as(&self, number: u8) -> bool {
        let mut owners = self.owners.iter();
        owners.any(|owner| owner.number == number && matches!(owner.phase, Phase::Waits(_)))
    }

    pub(super) fn find(&self, number: u8) -> Option<usize> {
        self.owners.iter().position(|owner| owner.number == number)
    }

    /// A call for so many locks begins. It is in no local queue, or in one of its own.
    pub(super) fn begin(&mut self, locks: usize) {
        let call = Call {
            locks,
            ttl: duration(TTL),
            waits: true,
            is_share: false,
            may_take: false,
            has_queue: true,
            awaits_replicas: false,
        };
        let competing = Competing::new(call, locks == 1);
        let number = self.new_number();
        self.push(number, Phase::Waits(competing));
        self.poll(self.owners.len() - 1);
    }

    fn new_number(&mut self) -> u8 {
        self.next_number += 1;
        self.next_number - 1
    }

    fn push(&mut self, number: u8, phase: Phase) {
        self.owners.push(Owner {
            number,
            awaits: false,
            phase,
        });
    }

    pub(super) fn poll(&mut self, index: usize) {
        if let Phase::Waits(competing) = &mut self.owners[index].phase {
            competing.on(OfCall::Due, || NOW);
        }
        self.send(index, Kind::Acquire);
    }

    /// An attempt came to this; if it is a grant, then so long ago.
    pub(super) fn competes(&mut self, index: usize, event: OfCall, age: Ticks) {
        let owner = &mut self.owners[index];
        owner.awaits = false;
        let Phase::Waits(competing) = &mut owner.phase else {
            unreachable!("it waits");
        };
        match competing.on(event, || NOW + duration(age)) {
            Command::Wait(_) => {}
            Command::Win => self.win(index, age),
            Command::BeginAnew => self.begin_anew(index),
            command => unreachable!("{command:?} of a caller that waits"),
        }
    }

    fn win(&mut self, index: usize, age: Ticks) {
        let owner = &mut self.owners[index];
        let Phase::Waits(competing) = &mut owner.phase else {
            unreachable!("it waits");
        };
        let won = competing.win();
        let lease = Lease {
            token: won.grant.answer.token.get() as Token,
            deadline: TTL - age,
            inside: false,
            holding: Holding::granted(NOW_HELD, won.contended, false),
        };
        owner.phase = Phase::Held(won.owner, lease);
    }

    /// Another owner makes the next attempt. The first time that is at once.
    fn begin_anew(&mut self, index: usize) {
        let number = self.new_number();
        let owner = &mut self.owners[index];
        let Phase::Waits(competing) = &mut owner.phase else {
            unreachable!("it waits");
        };
        let given_back = competing.give_back();
        let command = competing.on(OfCall::GivenBack, || NOW);
        debug_assert_eq!(command, Command::Wait(Pause::Anew));
        let before = std::mem::replace(&mut owner.number, number);
        if let Some(outstanding) = given_back {
            self.end(before, outstanding);
        }
        self.poll(index);
    }

    pub(super) fn outstanding(&mut self, index: usize) -> &mut Outstanding {
        match &mut self.owners[index].phase {
            Phase::Waits(competing) => {
                let make = || Ok::<_, std::convert::Infallible>(Outstanding::default());
                let Ok(outstanding) = competing.owner_or_try(make);
                outstanding
            }
            Phase::Held(outstanding, _) | Phase::Ending(outstanding, _) => outstanding,
        }
    }

    pub(super) fn send(&mut self, index: usize, kind: Kind) {
        let on = self.connection;
        match kind {
            Kind::Acquire => self.outstanding(index).sending(on, duration(TTL), true),
            Kind::Release | Kind::End => self.outstanding(index).ending(on),
            Kind::Renew => {}
        }
        let owner = &mut self.owners[index];
        owner.awaits |= kind != Kind::Renew;
        let number = owner.number;
        self.up.push(Sent {
            number,
            kind,
            age: 0,
        });
    }

    /// A caller gives up.
    pub(super) fn leave(&mut self, index: usize) {
        let mut owner = self.owners.remove(index);
        let Phase::Waits(competing) = &mut owner.phase else {
            unreachable!("it waits");
        };
        let Left { ends, promotes } = competing.leave();
        // Nobody waits behind it.
        let queued = match promotes {
            Some(Handoff::Queued(outstanding)) => Some(outstanding),
            _ => None,
        };
        // The answer to a poll does not matter any more.
        self.down.retain(|down| down.number != owner.number);
        if let Some(outstanding) = ends.or(queued) {
            self.end(owner.number, outstanding);
        }
    }

    /// An owner is ended that is given up.
    fn end(&mut self, number: u8, outstanding: Outstanding) {
        if let Some(ending) = Ending::of_owner(&outstanding) {
            self.push(number, Phase::Ending(outstanding, ending));
            self.end_again(self.owners.len() - 1);
        }
    }

    /// The end of a holder.
    pub(super) fn release(&mut self, index: usize) {
        let owner = &mut self.owners[index];
        let Phase::Held(outstanding, lease) = &mut owner.phase else {
            unreachable!("it holds");
        };
        let mut ending = Ending::of_holder(lease.holding.is_contended(), false, None);
        // The model does not ask what a release reports.
        ending.late();
        owner.phase = Phase::Ending(std::mem::take(outstanding), ending);
        self.end_again(index);
    }

    /// Sends the first end, or the next one.
    pub(super) fn end_again(&mut self, index: usize) {
        let Phase::Ending(_, ending) = &mut self.owners[index].phase else {
            unreachable!("it is being ended");
        };
        let kind = of_end(ending.command(|| NOW));
        self.send(index, kind);
    }

    /// An end came to this.
    pub(super) fn ended(&mut self, index: usize, event: Event) {
        let owner = &mut self.owners[index];
        owner.awaits = false;
        let Phase::Ending(outstanding, ending) = &mut owner.phase else {
            return;
        };
        if event != Event::Unavailable {
            outstanding.ending_is_known();
        }
        let reaction = ending.on(event, outstanding, || NOW, || JITTER);
        match reaction.then {
            Then::Send(command) => self.send(index, of_end(command)),
            Then::BackOff(_) | Then::Pause(_) => {}
            Then::Over => drop(self.owners.remove(index)),
        }
    }

    /// The connection breaks, and is replaced at once.
    pub(super) fn tear(&mut self) {
        self.down.clear();
        let torn = self
            .up
            .drain(..)
            .map(|sent| (Sent { age: 0, ..sent }, LATE));
        self.stray.extend(torn);
        self.connection = ConnectionId(self.connection.0 + 1);
        let mut interrupted = Vec::new();
        for owner in &mut self.owners {
            if let Phase::Held(_, lease) = &mut owner.phase {
                while lease.holding.is_renewing() {
                    lease.holding.unanswered();
                }
                lease.holding.note_contended(true);
            }
            if std::mem::take(&mut owner.awaits) {
                interrupted.push(owner.number);
            }
        }
        for number in interrupted {
            let Some(index) = self.find(number) else {
                continue;
            };
            match self.owners[index].phase {
                Phase::Waits(_) => self.competes(index, OfCall::Unavailable, 0),
                Phase::Ending(..) => self.ended(index, Event::Unavailable),
                Phase::Held(..) => {}
            }
        }
    }

    pub(super) fn tick(&mut self) {
        for sent in &mut self.up {
            sent.age += 1;
        }
        for answered in &mut self.down {
            if matches!(answered.answer, Answer::Held { .. }) {
                // Beyond that it grants nothing.
                answered.age = (answered.age + 1).min(TTL);
            }
        }
        for (_, left) in &mut self.stray {
            *left -= 1;
        }
        for owner in &mut self.owners {
            match &mut owner.phase {
                Phase::Held(_, lease) => lease.deadline = (lease.deadline - 1).max(0),
                Phase::Ending(_, ending) => ending.pass(TICK),
                Phase::Waits(_) => {}
            }
        }
    }

    /// Whether time may pass: a command arrives in its time, or is lost.
    pub(super) fn may_wait(&self) -> bool {
        self.up.iter().all(|sent| sent.age < DELAY) && self.stray.iter().all(|(_, left)| *left > 0)
    }

    /// Whether the caller has nothing left to do.
    pub(super) fn is_idle(&self) -> bool {
        let is_silent = self.up.is_empty() && self.stray.is_empty();
        is_silent && (!self.alive || self.calls_left == 0 && self.owners.is_empty())
    }
}

const _: () = assert!(CLAIM < TTL && TTL < QUEUE && LIVE < QUEUE);

fn of_end(command: OfEnd) -> Kind {
    match command {
        OfEnd::Release => Kind::Release,
        OfEnd::End => Kind::End,
        OfEnd::EndForSuccessor | OfEnd::Reserve(_) => unreachable!("of several locks"),
    }
}
