//! Acquisitions: callers come, wait in the local queue and in Redis, and give up.

use super::{ClientRules, Verdict, count_from};
use crate::backend::wire::outstanding::Outstanding;
use crate::client::{Client, Handoff, Owner, Phase};
use crate::network::{Kind, Reply, duration};
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks};

impl Client {
    /// A caller comes: it becomes the head of the local queue, or waits in it.
    pub(crate) fn arrive(&mut self, rules: &ClientRules) -> Verdict {
        self.calls_left -= 1;
        let ttl = rules.ttls[usize::from(self.calls_left % 2)];
        if self.resume(ttl, rules)? {
            return Ok(());
        }
        if self.has_head {
            self.local_queue.push(ttl);
            return Ok(());
        }
        self.has_head = true;
        let index = self.begin(ttl, true, false);
        self.poll(index, rules)
    }

    /// A caller that does not wait comes, and makes one attempt.
    pub(crate) fn try_once(&mut self, rules: &ClientRules) -> Verdict {
        if self.resume(rules.ttls[0], rules)? {
            return Ok(());
        }
        let heads_queue = !self.has_head;
        self.has_head = true;
        let index = self.begin(rules.ttls[0], heads_queue, true);
        self.poll(index, rules)
    }

    pub(super) fn begin(&mut self, ttl: Ticks, heads_queue: bool, once: bool) -> usize {
        let phase = Phase::Competing {
            once,
            contended: false,
        };
        let number = self.new_number();
        self.owners
            .push(Owner::new(number, ttl, heads_queue, phase));
        self.owners.len() - 1
    }

    /// An owner of which nothing was sent may begin with a plain command: the lock is mostly free.
    pub(crate) fn poll(&mut self, index: usize, rules: &ClientRules) -> Verdict {
        let queue = !matches!(
            self.owners[index].phase,
            Phase::Competing { once: true, .. }
        );
        let ttl = self.owners[index].ttl;
        let owner = &self.owners[index];
        if !rules.takes || owner.outstanding != Outstanding::default() || owner.share.is_some() {
            return self.send(index, Kind::Acquire { ttl, queue }, false);
        }
        let verdict = self.send(index, Kind::Take { ttl, queue }, false);
        if rules.seeded == Some(Seeded::TakeUnsettled) {
            self.owners[index].outstanding.answered(self.connection.id);
        }
        verdict
    }

    /// Somebody has the lock, perhaps this owner by an earlier command. The script knows.
    pub(super) fn take_answered(
        &mut self,
        index: usize,
        reply: Reply,
        rules: &ClientRules,
    ) -> Option<Verdict> {
        let Kind::Take { ttl, queue } = reply.kind else {
            return None;
        };
        let is_busy = reply.answer == Some(Answer::Nil);
        let is_refused = matches!(reply.answer, Some(Answer::Refused(_)));
        if !is_busy && !is_refused || is_busy && rules.seeded == Some(Seeded::NilIsBusy) {
            return None;
        }
        Some(self.send(index, Kind::Acquire { ttl, queue }, false))
    }

    pub(super) fn poll_answered(
        &mut self,
        index: usize,
        once: bool,
        contended: bool,
        answer: Answer,
        age: Ticks,
        rules: &ClientRules,
    ) -> Verdict {
        match answer {
            Answer::Held { flagged, token } => {
                let age = count_from(age, rules);
                let ttl = self.owners[index].ttl;
                if age < ttl {
                    let lease = self.new_lease(token, ttl - age, flagged || contended, rules);
                    self.owners[index].phase = Phase::Held(lease);
                }
                Ok(())
            }
            // Only by mistake is nil an answer here.
            Answer::Waiting { .. } | Answer::WaitingForShares { .. } | Answer::Nil => {
                self.owners[index].outstanding.note_not_held();
                if once {
                    return self.give_up(index, rules);
                }
                self.owners[index].phase = Phase::Competing {
                    once,
                    contended: true,
                };
                Ok(())
            }
            Answer::Refused(_) => {
                let mut owner = self.owners.remove(index);
                owner.outstanding.note_not_held();
                let heads_queue = std::mem::take(&mut owner.heads_queue);
                self.end(owner, rules)?;
                if heads_queue {
                    return self.pass_head(Handoff::Fresh, rules);
                }
                Ok(())
            }
            _ if once => self.give_up(index, rules),
            _ => Ok(()),
        }
    }

    /// A caller's wait is over, or its future is dropped, before its body began.
    pub(crate) fn give_up(&mut self, index: usize, rules: &ClientRules) -> Verdict {
        if self.owners[index].lease().is_some() {
            return self.release(index, rules);
        }
        let mut owner = self.owners.remove(index);
        self.connection.stop_awaiting(owner.number);
        owner.awaits_reply = false;
        if !owner.heads_queue {
            return self.end(owner, rules);
        }
        let handoff = if owner.outstanding.may_be_stored() {
            Handoff::Queued(owner)
        } else {
            Handoff::Fresh
        };
        self.pass_head(handoff, rules)
    }

    /// Makes the next caller the head of the local queue. Without one the owner is ended.
    pub(super) fn pass_head(&mut self, handoff: Handoff, rules: &ClientRules) -> Verdict {
        if self.local_queue.is_empty() {
            self.has_head = false;
            return match handoff {
                Handoff::Granted(..) if rules.seeded == Some(Seeded::SuccessorNotEnded) => Ok(()),
                Handoff::Fresh => Ok(()),
                Handoff::Queued(owner) | Handoff::Granted(owner, ..) => self.end(owner, rules),
            };
        }
        let ttl = self.local_queue.remove(0);
        let competing = Phase::Competing {
            once: false,
            contended: false,
        };
        let (mut owner, phase) = match handoff {
            Handoff::Fresh => {
                self.begin(ttl, true, false);
                return Ok(());
            }
            // An owner asks for one ttl all its life, since an acquire sets it, however late it arrives.
            Handoff::Queued(owner) | Handoff::Granted(owner, ..)
                if !owner.outstanding.may_ask_for(duration(ttl))
                    && rules.seeded != Some(Seeded::OwnerOfAnotherTtl) =>
            {
                self.begin(ttl, true, false);
                return self.end(owner, rules);
            }
            Handoff::Queued(owner) => (owner, competing),
            Handoff::Granted(owner, token, flagged, age) if owner.ttl == ttl && age < ttl => {
                let lease = self.new_lease(token, ttl - age, flagged, rules);
                (owner, Phase::Held(lease))
            }
            Handoff::Granted(owner, ..) => (owner, competing),
        };
        (owner.heads_queue, owner.awaits_reply, owner.phase) = (true, false, phase);
        owner.ttl = ttl;
        self.owners.push(owner);
        Ok(())
    }

    /// Refuses new calls, ends the waiters, and releases the leases whose bodies can be stopped.
    pub(crate) fn shut_down(&mut self, rules: &ClientRules) -> Verdict {
        self.calls_left = 0;
        self.shares_left.clear();
        self.local_queue.clear();
        for number in self.numbers() {
            let Some(index) = self.find(number) else {
                continue;
            };
            match self.owners[index].phase {
                Phase::Competing { .. } => self.give_up(index, rules)?,
                Phase::Held(_) => self.lose(index, rules)?,
                Phase::Named | Phase::Ending(_) => {}
            }
        }
        Ok(())
    }
}
