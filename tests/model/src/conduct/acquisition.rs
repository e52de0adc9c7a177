//! Acquisitions: callers come, wait in the local queue and in Redis, and give up. The runtime's
//! machine decides; this module carries out its commands.
//!
//! An attempt may begin at any time, whatever pause the machine asks for. So a message that names a
//! waiter adds nothing. A caller whose time is up behaves like one whose future is dropped; the
//! machine's alternatives, one more attempt or waiting for the answer to an end, begin with a poll
//! here or end a little later.

use super::{Awaited, Verdict, count_from};
use crate::backend::engine::NOW;
use crate::backend::engine::competing::Competing;
use crate::backend::engine::competing::call::Call;
use crate::backend::engine::competing::command::{Command, Pause};
use crate::backend::engine::competing::event::{Event, Knows};
use crate::backend::engine::handoff::{Handoff, Left, Won};
use crate::backend::engine::holding::Holding;
use crate::backend::engine::local_queue::Next;
use crate::backend::wire::first_command::FirstCommand;
use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::reply::Answered;
use crate::client::{Client, Lease, Owner, Phase};
use crate::configuration::Configuration;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::network::{Kind, Reply, duration};
use crate::seeded::Seeded;
use crate::server::{Answer, Share, Ticks, Token};

/// A caller that wants the whole lock.
const ALONE: Option<Share> = None;

/// What a head passes on: its owner's number, and the time since the lock was granted.
pub(super) struct Passed {
    pub(super) handoff: Handoff<Outstanding>,
    pub(super) number: u8,
    pub(super) age: Ticks,
}

impl Passed {
    pub(super) const NOTHING: Passed = Passed {
        handoff: Handoff::Fresh,
        number: 0,
        age: 0,
    };
}

impl Client {
    /// A caller comes: it becomes the head of the local queue, or waits in it.
    pub(crate) fn arrive(&mut self, rules: &Configuration) -> Verdict {
        self.calls_left -= 1;
        let ttl = rules.ttls()[usize::from(self.calls_left % 2)];
        let locks = self.locks().len();
        if locks > 1 {
            let call = Call {
                locks,
                ..call(ttl, ALONE, true, rules)
            };
            return self.begin(ttl, ALONE, Competing::new(call, false), rules);
        }
        if self.resume(ttl, rules)? {
            return Ok(());
        }
        if !self.queue.enter(1) {
            self.queue.join(self.queue.next_id(), ttl);
            return Ok(());
        }
        let competing = Competing::new(call(ttl, ALONE, true, rules), true);
        self.begin(ttl, ALONE, competing, rules)
    }

    /// A caller that does not wait comes, and makes one attempt.
    pub(crate) fn try_once(&mut self, rules: &Configuration) -> Verdict {
        let ttl = rules.ttls()[0];
        if self.resume(ttl, rules)? {
            return Ok(());
        }
        let heads_queue = self.queue.enter(1);
        let competing = Competing::new(call(ttl, ALONE, false, rules), heads_queue);
        self.begin(ttl, ALONE, competing, rules)
    }

    /// A call makes its first attempt.
    pub(super) fn begin(
        &mut self,
        ttl: Ticks,
        share: Option<Share>,
        competing: Competing<Outstanding>,
        rules: &Configuration,
    ) -> Verdict {
        let number = self.new_number();
        let mut owner = Owner::new(number, ttl, Phase::Competing(competing));
        owner.share = share;
        self.owners.push(owner);
        self.poll(self.owners.len() - 1, rules)
    }

    /// Makes an attempt, which is due.
    pub(crate) fn poll(&mut self, index: usize, rules: &Configuration) -> Verdict {
        let owner = &mut self.owners[index];
        let ttl = owner.ttl;
        let competing = owner.competing();
        let command = competing.on(Event::Due, || NOW);
        debug_assert_eq!(command, Command::Attempt);
        let queue = competing.queues();
        // A remembered contention only chooses between scripts, and other callers begin with
        // either.
        match competing.first_command(|| false) {
            FirstCommand::Script => self.send(index, Kind::Acquire { ttl, queue }, false),
            FirstCommand::Take => {
                let verdict = self.send(index, Kind::Take { ttl, queue }, false);
                if rules.seeded == Some(Seeded::TakeUnsettled) {
                    let on = self.connection.id;
                    self.owners[index].outstanding().answered(on);
                }
                verdict
            }
        }
    }

    /// Somebody has the lock, perhaps this owner through an earlier command. The script finds out.
    pub(super) fn take_answered(&mut self, index: usize, reply: Reply) -> Option<Verdict> {
        let Kind::Take { ttl, queue } = reply.kind else {
            return None;
        };
        let is_taken = matches!(reply.answer, Some(Answer::Nil | Answer::Refused(_)));
        is_taken.then(|| self.send(index, Kind::Acquire { ttl, queue }, false))
    }

    pub(super) fn poll_answered(
        &mut self,
        index: usize,
        answer: Answer,
        reply: Reply,
        rules: &Configuration,
    ) -> Verdict {
        let is_unnoticed = rules.seeded == Some(Seeded::LossUnnoticed);
        if is_unnoticed && let Phase::Competing(competing) = &mut self.owners[index].phase {
            competing.forget_what_it_had();
        }
        let event = match answer {
            Answer::Held { flagged, token } => Event::Granted(granted(flagged, token)),
            Answer::Waiting { .. } | Answer::WaitingForShares { .. } => Event::Waiting {
                lock: usize::from(reply.in_the_way),
                holds_later: reply.holds_later && !is_unnoticed,
            },
            Answer::Refused(_) => Event::Refused,
            Answer::Unavailable | Answer::Nil | Answer::Code(_) => Event::Unavailable,
        };
        self.competes(index, event, count_from(reply.age, rules), rules)
    }

    /// Processes the outcome of the call's last command; a grant is `age` old.
    pub(super) fn competes(
        &mut self,
        index: usize,
        event: Event,
        age: Ticks,
        rules: &Configuration,
    ) -> Verdict {
        let competing = self.owners[index].competing();
        let command = competing.on(event, || NOW + duration(age));
        if competing.owner().is_none() {
            // The next attempt gets another owner only with a seeded mistake.
            self.owners[index].number = self.new_number();
        }
        self.carry_out(index, command, age, rules)
    }

    fn carry_out(
        &mut self,
        index: usize,
        command: Command,
        age: Ticks,
        rules: &Configuration,
    ) -> Verdict {
        match command {
            Command::Attempt => Ok(()),
            Command::Wait(_) if self.owners[index].queues() => Ok(()),
            Command::Wait(_) => self.competes(index, Event::TimeIsUp, age, rules),
            Command::Win => self.win(index, age, rules),
            Command::GiveUp => self.leave(index, rules),
            Command::BeginAnew => self.begin_anew(index, rules),
            Command::AwaitReplicas
            | Command::CheckReplicas
            | Command::Listen
            | Command::GiveBack => unreachable!("a queue, and no replicas"),
        }
    }

    /// The caller has lost one of several locks, so the next attempt uses another owner. The first
    /// such attempt is immediate.
    fn begin_anew(&mut self, index: usize, rules: &Configuration) -> Verdict {
        let number = self.new_number();
        let owner = &mut self.owners[index];
        let competing = owner.competing();
        let given_back = competing.give_back();
        let command = competing.on(Event::GivenBack, || NOW);
        debug_assert_eq!(command, Command::Wait(Pause::Anew));
        let before = std::mem::replace(&mut owner.number, number);
        if let Some(outstanding) = given_back {
            self.end_named(before, outstanding, rules)?;
        }
        self.poll(index, rules)
    }

    /// The caller has the lock.
    fn win(&mut self, index: usize, age: Ticks, rules: &Configuration) -> Verdict {
        let ttl = self.owners[index].ttl;
        let competing = self.owners[index].competing();
        let Won {
            owner,
            grant,
            contended,
            heads_queue,
            promotes,
        } = competing.win();
        let token = grant.answer.token.get() as Token;
        let granted_at = rules.turns_in_time().granted_before(age);
        let holding = Holding::granted(granted_at, contended, heads_queue);
        let lease = Lease::new(token, ttl - age, holding, rules);
        self.owners[index].goes_on(owner, Phase::Held(lease));
        if promotes {
            self.sharing.pop();
        }
        Ok(())
    }

    /// A caller's wait is over, or its future is dropped, before its body began.
    pub(crate) fn give_up(&mut self, index: usize, rules: &Configuration) -> Verdict {
        if self.owners[index].lease().is_some() {
            return self.release(index, Awaited::No, rules);
        }
        self.leave(index, rules)
    }

    /// A call leaves without the lock.
    fn leave(&mut self, index: usize, rules: &Configuration) -> Verdict {
        let mut owner = self.owners.remove(index);
        let number = owner.number;
        self.connection.stop_awaiting(number);
        let competing = owner.competing();
        let Left { ends, promotes } = competing.leave();
        if promotes.is_some() && owner.share.is_some() {
            self.sharing.pop();
        }
        let is_alone = owner.share.is_none();
        if let Some(outstanding) = ends {
            owner.goes_on(outstanding, Phase::Named);
            self.end(owner, rules)?;
        }
        match promotes {
            Some(handoff) if is_alone => {
                let passed = Passed {
                    handoff,
                    number,
                    age: 0,
                };
                self.promote_next(passed, rules)
            }
            _ => Ok(()),
        }
    }

    /// Promotes the next caller to the head of the local queue. Without a caller the owner is
    /// ended.
    pub(super) fn promote_next(&mut self, passed: Passed, rules: &Configuration) -> Verdict {
        let Next::Head(ttl) = self.queue.pop() else {
            let is_granted = matches!(passed.handoff, Handoff::Granted(..));
            if is_granted && rules.seeded == Some(Seeded::SuccessorNotEnded) {
                return Ok(());
            }
            return self.end_unneeded(passed, rules);
        };
        let mut competing = Competing::new(call(ttl, ALONE, true, rules), true);
        let passed = if competing.fits(&passed.handoff) {
            passed
        } else {
            self.end_unneeded(passed, rules)?;
            Passed::NOTHING
        };
        let Passed {
            handoff,
            number,
            age,
        } = passed;
        let number = match handoff {
            Handoff::Fresh => self.new_number(),
            _ => number,
        };
        let now = || NOW + duration(age);
        let command = competing.take_over(handoff, Knows::OneOfUs, || false, now);
        let owner = Owner::new(number, ttl, Phase::Competing(competing));
        self.owners.push(owner);
        self.carry_out(self.owners.len() - 1, command, age, rules)
    }

    /// Ends an owner that no caller takes over.
    fn end_unneeded(&mut self, passed: Passed, rules: &Configuration) -> Verdict {
        match passed.handoff {
            Handoff::Fresh => Ok(()),
            Handoff::Queued(outstanding)
            | Handoff::Confirmed(outstanding)
            | Handoff::Granted(outstanding, _) => self.end_named(passed.number, outstanding, rules),
        }
    }

    /// Refuses new calls, ends the waiters, and releases the leases whose bodies can be stopped.
    pub(crate) fn shut_down(&mut self, rules: &Configuration) -> Verdict {
        self.calls_left = 0;
        self.shares_left.clear();
        while self.queue.leave_first() {}
        for number in self.numbers() {
            let Some(index) = self.find(number) else {
                continue;
            };
            match self.owners[index].phase {
                Phase::Competing(_) => self.leave(index, rules)?,
                Phase::Held(_) => self.lose(index, rules)?,
                Phase::Named | Phase::Ending(_) => {}
            }
        }
        Ok(())
    }
}

/// The parameters of a caller's request.
pub(super) fn call(ttl: Ticks, share: Option<Share>, waits: bool, rules: &Configuration) -> Call {
    let is_share = share.is_some();
    Call {
        locks: 1,
        ttl: duration(ttl),
        waits,
        is_share,
        may_take: rules.takes && waits && !is_share && !rules.writes && rules.at_least == 0,
        has_queue: true,
        awaits_replicas: false,
    }
}

/// The server's answer to a holder.
fn granted(contended: bool, token: Token) -> Answered<Grant> {
    Answered {
        at: NOW,
        answer: Grant {
            contended,
            token: FencingToken::new(token.unsigned_abs()),
        },
    }
}
