//! The steps of a client. Each step is the runtime's work between two waits.

mod acquisition;
mod leases;
mod local_turns;
mod moves;
mod release;
mod shares;

pub(crate) use local_turns::LocalTurns;
pub(crate) use release::Awaited;

use crate::audit::Breach;
use crate::backend::engine::competing::event::Event;
use crate::backend::wire::outstanding::Outstanding;
use crate::client::{Body, Client, Downgrade, Owner, Phase};
use crate::configuration::Configuration;
use crate::network::{Incoming, Kind, Reply, duration};
use crate::seeded::Seeded;
use crate::server::{Answer, Share, Ticks};

/// Whether a step of a client keeps the rules, or the rule that it breaks.
pub(crate) type Verdict = Result<(), Breach>;

impl Client {
    /// Sends a command of an owner.
    pub(super) fn send(&mut self, index: usize, kind: Kind, has_text: bool) -> Verdict {
        let on = self.connection.id;
        let owner = &mut self.owners[index];
        let number = owner.number;
        let mut verdict = Ok(());
        match kind {
            Kind::Acquire { ttl, queue } | Kind::Take { ttl, queue } => {
                if owner.is_ended {
                    verdict = Err(Breach::AcquiredAfterEnd);
                }
                owner.outstanding().sending(on, duration(ttl), queue);
                owner.awaits_reply = true;
            }
            Kind::Downgrade { ttl, .. } => {
                owner.outstanding().sending(on, duration(ttl), false);
                owner.awaits_reply = true;
            }
            Kind::Renew { .. } | Kind::Mint { .. } => {}
            Kind::Release | Kind::Delete { .. } | Kind::End { .. } | Kind::Reserve { .. } => {
                owner.outstanding().ending(on);
                owner.is_ended = true;
                owner.awaits_reply = true;
                if let Kind::End {
                    successor: Some((successor, ttl)),
                } = kind
                    && let Some(successor) = self.find(successor)
                {
                    let successor = &mut self.owners[successor];
                    successor.outstanding().sending(on, duration(ttl), true);
                }
            }
        }
        let share = match kind {
            Kind::Downgrade { .. } => Some(Share::READ),
            _ => self.owners[index].share,
        };
        self.connection.send(number, kind, share, has_text);
        verdict
    }

    /// Reads the next reply or announcement.
    pub(crate) fn receive(&mut self, rules: &Configuration) -> Verdict {
        match self.connection.down.remove(0) {
            Incoming::Push(number, share) => self.announced(number, share, rules),
            Incoming::Reply(reply) => self.answered(reply, rules),
            Incoming::Redirect { request, has_moved } => {
                self.redirected(request, has_moved, rules);
                Ok(())
            }
        }
    }

    /// A grant is announced, and its owner confirms it by its next poll. An owner that the client
    /// does not know has ended: it is ended again, or its claim expires if the client forgets
    /// owners.
    pub(super) fn announced(
        &mut self,
        number: u8,
        share: Option<Share>,
        rules: &Configuration,
    ) -> Verdict {
        let Some(index) = self.find(number) else {
            if rules.forgets {
                return Ok(());
            }
            let phase = Phase::Named;
            let mut unknown = Owner::new(number, rules.ttls()[0], phase);
            unknown.outstanding().assume_stored();
            unknown.share = share;
            return self.end(unknown, rules);
        };
        let owner = &self.owners[index];
        if matches!(owner.phase, Phase::Competing(_)) && !owner.awaits_reply {
            return self.competes(index, Event::Notified, 0, rules);
        }
        if let Phase::Held(lease) = &mut self.owners[index].phase {
            // The message reports that a waiter queues.
            lease.holding.note_contended(true);
            if lease.body == Body::Over && rules.seeded != Some(Seeded::RetainedContended) {
                return self.release(index, Awaited::No, rules);
            }
        }
        Ok(())
    }

    pub(super) fn answered(&mut self, reply: Reply, rules: &Configuration) -> Verdict {
        let Some(index) = self.find(reply.number) else {
            return Ok(());
        };
        if let Kind::Renew { ttl, confirms } = reply.kind {
            return self.renewal_answered(index, ttl, confirms, reply, rules);
        }
        if let Kind::Mint { .. } = reply.kind {
            return self.mint_answered(index, reply, rules);
        }
        self.owners[index].granted = reply.granted;
        self.note_answer(index, &reply);
        if let Some(verdict) = self.take_answered(index, reply) {
            return verdict;
        }
        let Some(answer) = reply.answer else {
            return self.send(index, reply.kind, true);
        };
        self.owners[index].awaits_reply = false;
        match &self.owners[index].phase {
            Phase::Competing(_) => self.poll_answered(index, answer, reply, rules),
            Phase::Ending(_) => self.end_answered(reply, answer, rules),
            Phase::Held(lease) if lease.downgrades == Downgrade::Asked => {
                self.downgrade_answered(index, answer, reply.age, rules)
            }
            Phase::Held(_) | Phase::Named => Ok(()),
        }
    }

    /// Notes that a command was answered in the owners that it names.
    fn note_answer(&mut self, index: usize, reply: &Reply) {
        let on = self.connection.id;
        // A script that the server does not know has done nothing either.
        let is_error = matches!(
            reply.answer,
            None | Some(Answer::Refused(_) | Answer::Unavailable)
        );
        let note = |outstanding: &mut Outstanding| {
            if is_error {
                outstanding.refused(on);
            } else {
                outstanding.answered(on);
            }
        };
        match reply.kind {
            Kind::Acquire { .. } | Kind::Take { .. } | Kind::Downgrade { .. } => {
                note(self.owners[index].outstanding());
            }
            Kind::Release | Kind::Delete { .. } | Kind::Reserve { .. } | Kind::End { .. } => {
                self.owners[index].outstanding().ending_is_known();
            }
            Kind::Renew { .. } | Kind::Mint { .. } => {}
        }
        if let Kind::End {
            successor: Some((successor, _)),
        } = reply.kind
            && let Some(successor) = self.find(successor)
        {
            note(self.owners[successor].outstanding());
        }
    }

    pub(super) fn numbers(&self) -> Vec<u8> {
        self.owners.iter().map(|owner| owner.number).collect()
    }
}

/// How much of a lease is over when the answer is read.
pub(crate) fn count_from(age: Ticks, rules: &Configuration) -> Ticks {
    if rules.seeded == Some(Seeded::DeadlineFromReply) {
        0
    } else {
        age
    }
}
