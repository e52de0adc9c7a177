//! Releases: an owner is ended, and settled until nothing of it can be left.

use super::{ClientRules, Verdict, count_from};
use crate::client::{Client, Downgrade, EndStep, Handoff, Owner, Phase};
use crate::network::Kind;
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks, Token};

impl Client {
    /// Releases a lease whose body is over or was dropped, unless it is handed over or retained.
    pub(crate) fn release(&mut self, index: usize, rules: &ClientRules) -> Verdict {
        let Phase::Held(lease) = self.owners[index].phase else {
            unreachable!("only a held lease is released");
        };
        if self.hand_over(index, rules)? || self.retain(index, rules) {
            return Ok(());
        }
        if lease.downgrades == Downgrade::Asked {
            let number = self.owners[index].number;
            self.connection.stop_awaiting(number);
        }
        let next_ttl = self.local_queue.first().copied();
        let owner = &self.owners[index];
        let rests = if owner.share.is_none() {
            lease.rest()
        } else {
            0
        };
        // The end of a share or of a writer names no successor, since it lets in all that are next. A lock at rest has none.
        let may_name = owner.heads_queue
            && owner.share.is_none()
            && (!rules.writes || rules.seeded == Some(Seeded::WriterNamesSuccessor))
            && (rests == 0 || rules.seeded == Some(Seeded::RestHandedOver));
        let next_ttl = next_ttl.filter(|_| may_name);
        let deletes = rules.deletes && owner.share.is_none();
        let (step, kind) = if let Some(ttl) = next_ttl {
            let successor = self.new_number();
            let named = Owner::new(successor, ttl, false, Phase::Named);
            self.owners.push(named);
            let kind = Kind::End {
                successor: Some((successor, ttl)),
            };
            (EndStep::HandOff(successor), kind)
        } else if rests > 0 {
            (EndStep::End, Kind::Rest { ttl: rests })
        } else if lease.contended {
            (EndStep::End, Kind::End { successor: None })
        } else {
            (
                EndStep::Release,
                match deletes {
                    // The record has the token of the grant in every turn.
                    true => Kind::Delete {
                        token: (lease.token - Token::from(lease.turn)).max(0),
                    },
                    false => Kind::Release,
                },
            )
        };
        self.owners[index].phase = Phase::Ending {
            step,
            left: rules.window + rules.longest(),
            rests,
            unanswered: false,
            late: false,
        };
        self.send(index, kind, false)
    }

    /// Ends an owner, unless nothing of it can be left.
    pub(super) fn end(&mut self, mut owner: Owner, rules: &ClientRules) -> Verdict {
        if !owner.outstanding.may_be_stored() {
            return Ok(());
        }
        (owner.heads_queue, owner.awaits_reply) = (false, false);
        owner.phase = Phase::Ending {
            step: EndStep::End,
            left: rules.window + rules.longest(),
            rests: 0,
            unanswered: false,
            late: false,
        };
        self.owners.push(owner);
        self.send(self.owners.len() - 1, Kind::End { successor: None }, false)
    }

    pub(crate) fn end_again(&mut self, index: usize, rules: &ClientRules) -> Verdict {
        let mut kind = Kind::End { successor: None };
        if let Phase::Ending {
            left, late, rests, ..
        } = &mut self.owners[index].phase
        {
            *late = *left <= rules.longest();
            // An end would free the lock before its minimum is over.
            if *rests > 0 && rules.seeded != Some(Seeded::RestEndedAgain) {
                kind = Kind::Rest { ttl: *rests };
            }
        }
        self.send(index, kind, false)
    }

    /// A command of this owner, other than a renewal, will not be answered.
    pub(crate) fn unanswered(&mut self, number: u8, rules: &ClientRules) -> Verdict {
        let Some(index) = self.find(number) else {
            return Ok(());
        };
        self.owners[index].awaits_reply = false;
        match self.owners[index].phase {
            Phase::Competing { once: true, .. } => self.give_up(index, rules),
            Phase::Competing { .. } | Phase::Held(_) | Phase::Named => Ok(()),
            Phase::Ending { step, .. } => self.end_answered(number, step, None, 0, rules),
        }
    }

    /// An end of an owner has this answer; `None`: it will not be answered.
    pub(super) fn end_answered(
        &mut self,
        number: u8,
        step: EndStep,
        answer: Option<Answer>,
        age: Ticks,
        rules: &ClientRules,
    ) -> Verdict {
        let index = self.find(number).expect("the owner is being ended");
        if step == EndStep::Release && answer == Some(Answer::Code(2)) {
            if let Phase::Ending { step, .. } = &mut self.owners[index].phase {
                *step = EndStep::End;
            }
            return self.send(index, Kind::End { successor: None }, false);
        }
        if let EndStep::HandOff(successor) = step {
            self.owners[index].heads_queue = false;
            let successor = self.find(successor).expect("the successor is named");
            let successor = self.owners.remove(successor);
            let handoff = match answer {
                Some(Answer::Held { flagged, token }) => {
                    Handoff::Granted(successor, token, flagged, count_from(age, rules))
                }
                None | Some(Answer::Code(2) | Answer::Refused(_) | Answer::Unavailable) => {
                    Handoff::Queued(successor)
                }
                Some(_) => {
                    if rules.seeded != Some(Seeded::SuccessorForgotten) {
                        self.end(successor, rules)?;
                    }
                    Handoff::Fresh
                }
            };
            self.pass_head(handoff, rules)?;
        } else if std::mem::take(&mut self.owners[index].heads_queue) {
            self.pass_head(Handoff::Fresh, rules)?;
        }
        self.settle(number, step, answer, rules);
        Ok(())
    }

    /// Forgets an owner, or ends it again later.
    pub(super) fn settle(
        &mut self,
        number: u8,
        step: EndStep,
        answer: Option<Answer>,
        rules: &ClientRules,
    ) {
        let index = self.find(number).expect("the owner is being ended");
        let owner = &mut self.owners[index];
        let silent = match answer {
            None | Some(Answer::Unavailable) => true,
            Some(Answer::Refused(_)) => owner.outstanding.may_hold(),
            Some(_) => false,
        };
        let Phase::Ending {
            left,
            rests,
            unanswered,
            late,
            ..
        } = owner.phase
        else {
            unreachable!("the owner is being ended");
        };
        let over = if rules.seeded == Some(Seeded::ForgottenInTime) {
            left <= rules.longest()
        } else {
            left == 0 || late && !silent
        };
        let unanswered = silent && (unanswered || step != EndStep::Settle);
        let is_tainted =
            owner.outstanding.is_tainted() && rules.seeded != Some(Seeded::SettleUntilAnswered);
        owner.awaits_reply = false;
        if !over && (unanswered || is_tainted) {
            owner.phase = Phase::Ending {
                step: EndStep::Settle,
                left,
                // What may follow an answer ends an owner that holds nothing any more.
                rests: if silent { rests } else { 0 },
                unanswered,
                late,
            };
        } else {
            self.owners.remove(index);
        }
    }

    /// The connection breaks, and is replaced at once.
    pub(crate) fn tear(&mut self, late: Ticks, rules: &ClientRules) -> Verdict {
        self.connection.tear(late);
        for owner in &mut self.owners {
            if let Phase::Held(lease) = &mut owner.phase {
                (lease.renewing, lease.minting) = (false, false);
                lease.torn = rules.retain > 0;
            }
        }
        self.doubt_leases(rules);
        // Collected first: the commands that follow go over the next connection.
        let interrupted = self.owners.iter().filter(|owner| owner.awaits_reply);
        let interrupted: Vec<u8> = interrupted.map(|owner| owner.number).collect();
        let retained = self.retained();
        if let Some(index) = retained.filter(|_| rules.seeded != Some(Seeded::RetainedTorn)) {
            // The next connection may lead to a server that does not know the lease.
            self.release(index, rules)?;
        }
        for number in interrupted {
            self.unanswered(number, rules)?;
        }
        Ok(())
    }
}
