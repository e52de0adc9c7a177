//! Releases: the runtime's machine ends an owner, and settles it once none of its commands can be
//! in flight.

use super::acquisition::Passed;
use super::{Verdict, count_from};
use crate::audit::Breach;
use crate::backend::engine::competing::event::Event as OfCall;
use crate::backend::engine::ending::{Command, Ending, Event, Head, Report, Then};
use crate::backend::engine::handoff::Handoff;
use crate::backend::engine::{JITTER, NOW};
use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::reply::{Answered, EndReply};
use crate::client::{Client, Downgrade, End, Owner, Phase};
use crate::configuration::Configuration;
use crate::lease::Mode;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::network::{Kind, Reply, Request, duration, ticks};
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks, Token};

/// Whether a caller waits for the answer to a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    Yes,
    No,
}

impl Client {
    /// Releases a lease whose body is over or was dropped, unless it is handed over or retained.
    /// The local queue ends immediately if nobody waits in it or for the answer.
    pub(crate) fn release(
        &mut self,
        index: usize,
        awaited: Awaited,
        rules: &Configuration,
    ) -> Verdict {
        if self.hand_over(index, rules)? || self.retain(index, rules) {
            return Ok(());
        }
        let lease = self.owners[index].held();
        let has_next = self.queue.peek().is_some();
        if awaited == Awaited::No && lease.holding.heads_queue() && !has_next {
            lease.holding.leave_queue();
            self.queue.pop();
        }
        let lease = *lease;
        if lease.downgrades == Downgrade::Asked {
            let number = self.owners[index].number;
            self.connection.stop_awaiting(number);
        }
        let owner = &mut self.owners[index];
        let mode = mode_of(owner, rules);
        let reserves = match mode {
            Mode::Share => 0,
            Mode::Exclusive | Mode::Write => lease.reservation(),
        };
        let reserved_until = (reserves > 0).then(|| NOW + duration(reserves));
        let heads_queue = lease.holding.heads_queue();
        let ending = Ending::of_holder(lease.holding.is_contended(), heads_queue, reserved_until);
        let mut end = End::new(ending);
        // The record contains the token of the grant in every turn.
        let number = (lease.token - Token::from(lease.holding.turn())).max(0);
        end.deletes = (rules.deletes && mode != Mode::Share).then_some(number);
        // A lock that is becoming a share may still be the head.
        let may_name = mode != Mode::Share && end.ending.may_name_successor(mode)
            || heads_queue && rules.seeded == Some(Seeded::ReserveHandedOver);
        let next_ttl = self.queue.peek().copied();
        if let Some(ttl) = next_ttl.filter(|_| may_name) {
            let successor = self.new_number();
            let mut named = Owner::new(successor, ttl, Phase::Named);
            named.outstanding().note_queued();
            self.owners.push(named);
            end.successor = Some(successor);
            end.ending.name_successor();
        }
        let owner = &mut self.owners[index];
        (owner.ttl, owner.phase) = (0, Phase::Ending(end));
        self.end_again(index, rules)
    }

    /// Ends an owner, unless none of its commands can be in flight.
    pub(super) fn end(&mut self, mut owner: Owner, rules: &Configuration) -> Verdict {
        let Some(ending) = Ending::of_owner(owner.outstanding()) else {
            return Ok(());
        };
        (owner.ttl, owner.awaits_reply) = (0, false);
        owner.phase = Phase::Ending(End::new(ending));
        self.owners.push(owner);
        self.end_again(self.owners.len() - 1, rules)
    }

    /// The same, for an owner of the whole lock that no call has.
    pub(super) fn end_named(
        &mut self,
        number: u8,
        outstanding: Outstanding,
        rules: &Configuration,
    ) -> Verdict {
        let mut owner = Owner::new(number, 0, Phase::Named);
        owner.goes_on(outstanding, Phase::Named);
        self.end(owner, rules)
    }

    /// Sends the first end of an owner, or the next one after a pause.
    pub(crate) fn end_again(&mut self, index: usize, rules: &Configuration) -> Verdict {
        let Phase::Ending(End { ending, .. }) = &mut self.owners[index].phase else {
            unreachable!("the owner is being ended");
        };
        let mut command = ending.command(|| NOW);
        let is_first = !self.owners[index].is_ended;
        if let Command::Reserve(_) = command
            && !is_first
            && rules.seeded == Some(Seeded::ReserveEndedAgain)
        {
            // The mistake: frees the lock before its minimum is over.
            command = Command::End;
        }
        self.send_end(index, command)
    }

    fn send_end(&mut self, index: usize, command: Command) -> Verdict {
        let Phase::Ending(end) = self.owners[index].phase else {
            unreachable!("the owner is being ended");
        };
        let named = end.successor.and_then(|number| self.find(number));
        let kind = match command {
            Command::Release => match end.deletes {
                Some(token) => Kind::Delete { token },
                None => Kind::Release,
            },
            Command::End => Kind::End { successor: None },
            Command::EndForSuccessor => Kind::End {
                successor: named.map(|named| (self.owners[named].number, self.owners[named].ttl)),
            },
            Command::Reserve(time) => Kind::Reserve { ttl: ticks(time) },
        };
        self.send(index, kind, false)
    }

    /// A command of this owner, other than a renewal, will not be answered.
    pub(crate) fn unanswered(&mut self, number: u8, rules: &Configuration) -> Verdict {
        let Some(index) = self.find(number) else {
            return Ok(());
        };
        self.owners[index].awaits_reply = false;
        match self.owners[index].phase {
            Phase::Competing(_) => self.competes(index, OfCall::Unavailable, 0, rules),
            Phase::Held(_) | Phase::Named => Ok(()),
            Phase::Ending(_) => self.end_came_to(number, Event::Unavailable, 0, rules),
        }
    }

    /// The client has sent this command twice, and awaits the second answer.
    pub(crate) fn sent_twice(&mut self, request: Request) {
        let on = self.connection.id;
        if request.kind.ends()
            && request.awaited
            && let Some(index) = self.find(request.number)
        {
            self.owners[index].outstanding().ending(on);
        }
    }

    /// The answer to an owner's end arrives.
    pub(super) fn end_answered(
        &mut self,
        reply: Reply,
        answer: Answer,
        rules: &Configuration,
    ) -> Verdict {
        self.end_came_to(reply.number, event_of(reply.kind, answer), reply.age, rules)
    }

    fn end_came_to(
        &mut self,
        number: u8,
        event: Event,
        age: Ticks,
        rules: &Configuration,
    ) -> Verdict {
        let index = self.find(number).expect("the owner is being ended");
        let owner = &mut self.owners[index];
        let outstanding = match rules.seeded {
            Some(Seeded::SettleUntilAnswered) => &owner.outstanding().untainted(),
            Some(Seeded::OutcomeOfTheLast) => &owner.outstanding().with_known_ends(),
            _ => &owner.outstanding().clone(),
        };
        let end = owner.ending();
        let reaction = end.ending.on(event, outstanding, || NOW, || JITTER);
        let is_misreported = match reaction.reports {
            Some(Report::Freed | Report::Reserved) => !end.has_freed,
            Some(Report::NotOurs) => end.has_freed,
            Some(Report::Unconfirmed) | None => false,
        };
        let mut then = reaction.then;
        if rules.seeded == Some(Seeded::ForgottenInTime) && end.ending.is_settled() {
            then = Then::Over;
        }
        let named = reaction.promotes.and_then(|_| end.successor.take());
        owner.awaits_reply = false;
        if let Some(head) = reaction.promotes {
            self.promote(head, named, age, rules)?;
        }
        let index = self.find(number).expect("the owner is being ended");
        match then {
            Then::Send(command) => self.send_end(index, command)?,
            Then::BackOff(_) | Then::Pause(_) => {}
            // No command of the model arrives later than the machine expects.
            Then::Keep | Then::Over => drop(self.owners.remove(index)),
        }
        if is_misreported {
            Err(Breach::Misreported)
        } else {
            Ok(())
        }
    }

    /// Promotes the next caller of the local queue, with the successor that was named for it.
    fn promote(
        &mut self,
        head: Head,
        named: Option<u8>,
        age: Ticks,
        rules: &Configuration,
    ) -> Verdict {
        let named = named.and_then(|number| self.find(number));
        let mut named = named.map(|index| self.owners.remove(index));
        let number = named.as_ref().map_or(0, |named| named.number);
        let outstanding = named.as_mut().map(Owner::take_outstanding);
        let handoff = match (head, outstanding) {
            (_, None) => Handoff::Fresh,
            (Head::Fresh, Some(_)) if rules.seeded == Some(Seeded::SuccessorForgotten) => {
                Handoff::Fresh
            }
            (Head::Fresh, Some(outstanding)) => {
                self.end_named(number, outstanding, rules)?;
                Handoff::Fresh
            }
            (Head::Queued, Some(outstanding)) => Handoff::Queued(outstanding),
            (Head::Confirmed, Some(outstanding)) => Handoff::Confirmed(outstanding),
            (Head::Granted(answer), Some(outstanding)) => {
                Handoff::Granted(outstanding, Answered { at: NOW, answer })
            }
        };
        let age = count_from(age, rules);
        let passed = Passed {
            handoff,
            number,
            age,
        };
        self.promote_next(passed, rules)
    }

    /// The connection breaks, and is replaced at once.
    pub(crate) fn tear(&mut self, rules: &Configuration) -> Verdict {
        self.connection.tear(rules.late);
        for owner in &mut self.owners {
            if let Phase::Held(lease) = &mut owner.phase {
                while lease.holding.is_renewing() {
                    lease.renewal_failed(rules);
                }
                lease.minting = false;
                lease.torn = rules.retain > 0;
                if rules.seeded != Some(Seeded::RetainedTorn) {
                    // The message that a waiter queues may have been missed.
                    lease.holding.note_contended(true);
                }
            }
        }
        self.doubt_leases(rules);
        // Collected first: the commands that follow go over the next connection.
        let interrupted = self.owners.iter().filter(|owner| owner.awaits_reply);
        let interrupted: Vec<u8> = interrupted.map(|owner| owner.number).collect();
        let retained = self.retained();
        if let Some(index) = retained.filter(|_| rules.seeded != Some(Seeded::RetainedTorn)) {
            // The next connection may lead to a server that does not know the lease.
            self.release(index, Awaited::No, rules)?;
        }
        for number in interrupted {
            self.unanswered(number, rules)?;
        }
        Ok(())
    }
}

/// Which kind of lock the end is for.
fn mode_of(owner: &Owner, rules: &Configuration) -> Mode {
    match owner.share {
        Some(_) => Mode::Share,
        None if rules.writes && rules.seeded != Some(Seeded::WriterNamesSuccessor) => Mode::Write,
        None => Mode::Exclusive,
    }
}

/// The runtime's interpretation of the answer to a command that ends an owner.
fn event_of(kind: Kind, answer: Answer) -> Event {
    Event::Answered(match (kind, answer) {
        (_, Answer::Refused(_)) => return Event::Refused,
        (_, Answer::Unavailable) => return Event::Unavailable,
        (Kind::Reserve { .. }, Answer::Code(1)) => EndReply::Reserved,
        (Kind::Release | Kind::Delete { .. }, Answer::Code(2)) => EndReply::Contended,
        (_, Answer::Code(1)) => EndReply::Freed,
        (_, Answer::Code(2)) => EndReply::HandedOff,
        (_, Answer::Code(3)) => EndReply::LeftQueue,
        (_, Answer::Held { flagged, token }) => EndReply::SuccessorHolds(Grant {
            contended: flagged,
            token: FencingToken::new(token.unsigned_abs()),
        }),
        _ => EndReply::NotOurs,
    })
}
