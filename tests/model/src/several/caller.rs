//! A client with one caller at a time: its owners, and its connection.

use super::{CLAIM, DELAY, LATE, QUEUE, TTL, WINDOW};
use crate::backend::wire::PRESENT;
use crate::backend::wire::outstanding::{ConnectionId, Outstanding};
use crate::network::duration;
use crate::server::{Answer, Ticks, Token};

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
    pub(super) outstanding: Outstanding,
    pub(super) phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It has the locks before this one, as far as it knows.
    Waits {
        in_the_way: u8,
    },
    Held(Lease),
    Ending {
        step: EndStep,
        /// How long anything of the owner can last.
        left: Ticks,
        unanswered: bool,
        /// The last end was sent when no other command of the owner could arrive any more.
        late: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lease {
    pub(super) token: Token,
    /// How long its holder relies on it.
    pub(super) deadline: Ticks,
    pub(super) inside: bool,
    pub(super) contended: bool,
    pub(super) renewing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EndStep {
    Release,
    End,
    /// It was ended once, and is ended again until nothing of it can be left.
    Settle,
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
        let is_ending = |owner: &Owner| matches!(owner.phase, Phase::Ending { .. });
        self.owners.iter().position(|owner| !is_ending(owner))
    }

    /// The lock that the caller waits for, as far as it knows.
    pub(super) fn in_the_way(&self) -> Option<u8> {
        match self.owners[self.present()?].phase {
            Phase::Waits { in_the_way } => Some(in_the_way),
            _ => None,
        }
    }

    /// The owner that holds, and its lease.
    pub(super) fn lease(&self) -> Option<(u8, Lease)> {
        let owner = &self.owners[self.present()?];
        match owner.phase {
            Phase::Held(lease) => Some((owner.number, lease)),
            _ => None,
        }
    }

    pub(super) fn find(&self, number: u8) -> Option<usize> {
        self.owners.iter().position(|owner| owner.number == number)
    }

    /// A call begins, or is begun anew.
    pub(super) fn begin(&mut self) {
        let number = self.next_number;
        self.next_number += 1;
        self.owners.push(Owner {
            number,
            awaits: false,
            outstanding: Outstanding::default(),
            phase: Phase::Waits { in_the_way: 0 },
        });
        self.poll(self.owners.len() - 1);
    }

    pub(super) fn poll(&mut self, index: usize) {
        let outstanding = &mut self.owners[index].outstanding;
        outstanding.sending(self.connection, duration(TTL), true);
        self.send(index, Kind::Acquire);
    }

    pub(super) fn send(&mut self, index: usize, kind: Kind) {
        let owner = &mut self.owners[index];
        match kind {
            Kind::Release | Kind::End => owner.outstanding.ending(self.connection),
            Kind::Acquire | Kind::Renew => {}
        }
        owner.awaits |= kind != Kind::Renew;
        let number = owner.number;
        self.up.push(Sent {
            number,
            kind,
            age: 0,
        });
    }

    /// The end of a holder, of a waiter, or of an owner whose locks are partly lost.
    pub(super) fn end(&mut self, index: usize, step: EndStep) {
        let owner = &mut self.owners[index];
        let number = owner.number;
        owner.awaits = false;
        owner.phase = Phase::Ending {
            step,
            left: WINDOW + QUEUE,
            unanswered: false,
            late: false,
        };
        // The answer to a poll does not matter any more.
        self.down
            .retain(|down| down.number != number || down.kind == Kind::Renew);
        let kind = if step == EndStep::Release {
            Kind::Release
        } else {
            Kind::End
        };
        self.send(index, kind);
    }

    /// The answer to an end; `None`: there will be none.
    pub(super) fn ended(&mut self, index: usize, answer: Option<Answer>) {
        let owner = &mut self.owners[index];
        owner.awaits = false;
        let Phase::Ending {
            step,
            left,
            unanswered,
            late,
        } = owner.phase
        else {
            return;
        };
        if step == EndStep::Release && answer == Some(Answer::Code(2)) {
            return self.end(index, EndStep::End);
        }
        let silent = answer.is_none();
        let is_over = left == 0 || late && !silent;
        let unanswered = silent && (unanswered || step != EndStep::Settle);
        if !is_over && (unanswered || owner.outstanding.is_tainted()) {
            owner.phase = Phase::Ending {
                step: EndStep::Settle,
                left,
                unanswered,
                late,
            };
        } else {
            self.owners.remove(index);
        }
    }

    pub(super) fn end_again(&mut self, index: usize) {
        if let Phase::Ending { left, late, .. } = &mut self.owners[index].phase {
            *late = *left <= QUEUE;
        }
        self.send(index, Kind::End);
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
            if let Phase::Held(lease) = &mut owner.phase {
                lease.renewing = false;
            }
            if std::mem::take(&mut owner.awaits) {
                interrupted.push(owner.number);
            }
        }
        for number in interrupted {
            if let Some(index) = self.find(number) {
                self.ended(index, None);
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
                Phase::Held(lease) => lease.deadline = (lease.deadline - 1).max(0),
                Phase::Ending {
                    step: EndStep::Settle,
                    left,
                    ..
                } => *left = (*left - 1).max(0),
                _ => {}
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

const _: () = assert!(CLAIM < TTL && TTL < QUEUE);
