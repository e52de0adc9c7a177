//! What a client does. Each step is one that the keeper's thread takes without waiting.

mod calls;
mod endings;
mod holds;
mod turns;

use crate::audit::Breach;
use crate::client::{Body, Client, Episode, Phase};
use crate::network::{Down, Kind, Reply};
use crate::seeded::Seeded;
use crate::server::{Ticks, Token};

/// What the clients of one exploration want, and how they are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The ttls that callers want, by turns.
    pub(crate) ttls: [Ticks; 2],
    /// How long something of an owner can be under way.
    pub(crate) window: Ticks,
    pub(crate) claim: Ticks,
    /// Tokens that one grant owns.
    pub(crate) turns: Token,
    /// For how long after a grant a lease is passed on inside a process while others queue; `None`
    /// is not at all.
    pub(crate) spell: Option<Ticks>,
    /// For how long a lease that nobody else wants is retained; zero is not at all.
    pub(crate) retain: Ticks,
    /// Announcements of owners that ended are ignored.
    pub(crate) forgets: bool,
    /// Bodies that nothing can stop.
    pub(crate) synchronous: bool,
    /// The server compares and deletes.
    pub(crate) deletes: bool,
    pub(crate) seeded: Option<Seeded>,
}

/// What a client did, or the rule that it broke by that.
pub(crate) type Sent = Result<(), Breach>;

impl Terms {
    fn longest(&self) -> Ticks {
        self.ttls[0].max(self.ttls[1])
    }
}

impl Client {
    /// Sends a command of an owner's chain, or a renewal.
    pub(super) fn send(&mut self, index: usize, kind: Kind, whole: bool) -> Sent {
        let episode = &mut self.episodes[index];
        let number = episode.number;
        let mut sent = Ok(());
        match kind {
            Kind::Acquire { queue, .. } => {
                if episode.chain.ended {
                    sent = Err(Breach::AcquiredAfterEnd);
                }
                episode.chain.sending(queue);
                episode.waiting = true;
            }
            Kind::Renew { .. } => {}
            Kind::Release | Kind::Delete { .. } | Kind::End { .. } => {
                episode.chain.ending();
                episode.waiting = true;
                if let Kind::End {
                    next: Some((heir, _)),
                } = kind
                    && let Some(heir) = self.find(heir)
                {
                    self.episodes[heir].chain.sending(true);
                }
            }
        }
        self.link.send(number, kind, whole);
        sent
    }

    /// Takes the next thing that came.
    pub(crate) fn receive(&mut self, terms: &Terms) -> Sent {
        match self.link.down.remove(0) {
            Down::Push(number) => self.called(number, terms),
            Down::Reply(reply) => self.answered(reply, terms),
        }
    }

    /// A grant is announced. Its owner asks for it by its next poll. An owner that is not known here
    /// has ended: it is ended again if that is known, or else left to the end of its claim.
    pub(super) fn called(&mut self, number: u8, terms: &Terms) -> Sent {
        let Some(index) = self.find(number) else {
            if terms.forgets {
                return Ok(());
            }
            let phase = Phase::Named;
            let mut stranger = Episode::new(number, terms.ttls[0], false, phase);
            stranger.chain.stands = true;
            return self.end(stranger, terms);
        };
        let episode = &self.episodes[index];
        if terms.seeded == Some(Seeded::GrantUnchecked)
            && matches!(episode.phase, Phase::Competing { .. })
        {
            self.link.mute(number);
            self.episodes[index].waiting = false;
            let hold = self.new_hold(0, terms.claim, true);
            self.episodes[index].phase = Phase::Held(hold);
        }
        if let Phase::Held(hold) = &mut self.episodes[index].phase {
            // Somebody queues behind it.
            hold.contended = true;
            if hold.body == Body::Over && terms.seeded != Some(Seeded::RetainedDeaf) {
                return self.give_back(index, terms);
            }
        }
        Ok(())
    }

    pub(super) fn answered(&mut self, reply: Reply, terms: &Terms) -> Sent {
        let Some(index) = self.find(reply.number) else {
            return Ok(());
        };
        if let Kind::Renew { ttl } = reply.kind {
            return self.renewed(index, ttl, reply, terms);
        }
        if matches!(reply.kind, Kind::Acquire { .. }) {
            self.episodes[index].chain.answered();
        }
        if let Kind::End {
            next: Some((heir, _)),
        } = reply.kind
            && let Some(heir) = self.find(heir)
        {
            self.episodes[heir].chain.answered();
        }
        let Some(answer) = reply.answer else {
            return self.send(index, reply.kind, true);
        };
        self.episodes[index].waiting = false;
        match self.episodes[index].phase {
            Phase::Competing { once, contended } => {
                self.polled(index, once, contended, answer, reply.age, terms)
            }
            Phase::Ending { step, .. } => {
                self.step_done(reply.number, step, Some(answer), reply.age, terms)
            }
            Phase::Held(_) | Phase::Named => Ok(()),
        }
    }

    pub(super) fn numbers(&self) -> Vec<u8> {
        self.episodes.iter().map(|episode| episode.number).collect()
    }
}

/// How much of a lease is over when the answer is read.
pub(crate) fn count_from(age: Ticks, terms: &Terms) -> Ticks {
    if terms.seeded == Some(Seeded::DeadlineFromReply) {
        0
    } else {
        age
    }
}
