//! Leases: their bodies begin, and they are renewed and lost.

use super::acquisition::Passed;
use super::{Awaited, Verdict, count_from};
use crate::backend::engine::holding::Holding;
use crate::client::{Body, Client, Downgrade, Lease, Phase};
use crate::configuration::Configuration;
use crate::network::{Kind, Reply};
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks, Token};

impl Lease {
    pub(super) fn new(
        token: Token,
        deadline: Ticks,
        holding: Holding,
        rules: &Configuration,
    ) -> Lease {
        Lease {
            token,
            minting: false,
            deadline,
            body: Body::Outside,
            lost: false,
            holding,
            is_unconfirmed: false,
            retained: 0,
            torn: false,
            downgrades: Downgrade::No,
            reserves: rules.at_least,
            taken_anew: false,
        }
    }

    pub(crate) fn renewal_failed(&mut self, rules: &Configuration) {
        self.holding.unanswered();
        self.is_unconfirmed = rules.retain > 0;
    }
}

impl Client {
    /// The body begins.
    pub(crate) fn start(&mut self, index: usize) {
        if let Phase::Held(lease) = &mut self.owners[index].phase {
            lease.body = Body::Inside;
        }
    }

    /// Renews a lease. If it is in doubt, the answer confirms it.
    pub(crate) fn renew(&mut self, index: usize, ttl: Ticks) -> Verdict {
        let lease = self.owners[index].held();
        let confirms = lease.holding.renews();
        self.send(index, Kind::Renew { ttl, confirms }, false)
    }

    pub(super) fn renewal_answered(
        &mut self,
        index: usize,
        ttl: Ticks,
        confirms: bool,
        reply: Reply,
        rules: &Configuration,
    ) -> Verdict {
        let Phase::Held(lease) = &mut self.owners[index].phase else {
            return Ok(());
        };
        match reply.answer {
            None if lease.is_valid() => return self.send(index, reply.kind, true),
            Some(Answer::Held { flagged, .. }) if !lease.lost => {
                // A renewal that was sent before the connection broke confirms nothing.
                lease.holding.confirmed(!confirms);
                lease.is_unconfirmed = false;
                // An answer that comes after the deadline changes nothing.
                if lease.is_valid() {
                    lease.holding.note_contended(flagged);
                    lease.deadline = lease.deadline.max(ttl - count_from(reply.age, rules));
                }
            }
            Some(Answer::Nil) if !lease.lost => {
                lease.deadline = 0;
                lease.renewal_failed(rules);
                return self.lose(index, rules);
            }
            _ => lease.renewal_failed(rules),
        }
        Ok(())
    }

    /// A body asks for the token that its lease lacks.
    pub(crate) fn mint(&mut self, index: usize) -> Verdict {
        if let Phase::Held(lease) = &mut self.owners[index].phase {
            lease.minting = true;
        }
        let granted = self.owners[index].granted;
        self.send(index, Kind::Mint { granted }, false)
    }

    pub(super) fn mint_answered(
        &mut self,
        index: usize,
        reply: Reply,
        rules: &Configuration,
    ) -> Verdict {
        let Phase::Held(lease) = &mut self.owners[index].phase else {
            return Ok(());
        };
        if reply.answer.is_none() && lease.is_valid() {
            return self.send(index, reply.kind, true);
        }
        lease.minting = false;
        match reply.answer {
            // The server returns one token per grant, so each turn adds its place.
            Some(Answer::Held { token, .. }) => {
                lease.token = token + Token::from(lease.holding.turn())
            }
            Some(Answer::Nil) if !lease.lost => {
                lease.deadline = 0;
                return self.lose(index, rules);
            }
            _ => {}
        }
        Ok(())
    }

    /// A lease is lost: the next caller does not wait for its body, which is dropped unless it is
    /// synchronous.
    pub(crate) fn lose(&mut self, index: usize, rules: &Configuration) -> Verdict {
        let lease = self.owners[index].held();
        lease.lost = true;
        let stays = rules.synchronous && lease.body == Body::Inside;
        if lease.holding.lost() && rules.seeded != Some(Seeded::HeadKept) {
            self.promote_next(Passed::NOTHING, rules)?;
        }
        if stays {
            return Ok(());
        }
        self.release(index, Awaited::No, rules)
    }
}
