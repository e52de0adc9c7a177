//! Leases: their bodies begin, and they are renewed and lost.

use super::{ClientRules, Verdict, count_from};
use crate::client::{Body, Client, Downgrade, Handoff, Lease, Phase};
use crate::network::{Kind, Reply};
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks, Token};

impl Client {
    pub(super) fn new_lease(
        &self,
        token: Token,
        deadline: Ticks,
        contended: bool,
        rules: &ClientRules,
    ) -> Lease {
        Lease {
            token,
            minting: false,
            deadline,
            body: Body::Outside,
            lost: false,
            contended,
            renewing: false,
            turn: 0,
            since: 0,
            retained: 0,
            torn: false,
            downgrades: Downgrade::No,
            rests: rules.at_least,
            taken_anew: false,
            is_doubtful: false,
        }
    }

    /// The body begins.
    pub(crate) fn start(&mut self, index: usize) {
        if let Phase::Held(lease) = &mut self.owners[index].phase {
            lease.body = Body::Inside;
        }
    }

    pub(crate) fn renew(&mut self, index: usize, ttl: Ticks) -> Verdict {
        if let Phase::Held(lease) = &mut self.owners[index].phase {
            lease.renewing = true;
        }
        self.send(index, Kind::Renew { ttl }, false)
    }

    pub(super) fn renewal_answered(
        &mut self,
        index: usize,
        ttl: Ticks,
        reply: Reply,
        rules: &ClientRules,
    ) -> Verdict {
        let Phase::Held(lease) = &mut self.owners[index].phase else {
            return Ok(());
        };
        match reply.answer {
            None if lease.is_valid() => return self.send(index, reply.kind, true),
            // An answer that comes after the loss changes nothing.
            Some(Answer::Held { flagged, .. }) if lease.is_valid() => {
                lease.deadline = lease.deadline.max(ttl - count_from(reply.age, rules));
                lease.contended |= flagged;
            }
            Some(Answer::Nil) if !lease.lost => {
                lease.deadline = 0;
                lease.renewing = false;
                return self.lose(index, rules);
            }
            _ => {}
        }
        lease.renewing = false;
        Ok(())
    }

    /// A body asks for the token that its lease lacks.
    pub(crate) fn mint(&mut self, index: usize) -> Verdict {
        if let Phase::Held(lease) = &mut self.owners[index].phase {
            lease.minting = true;
        }
        self.send(index, Kind::Mint, false)
    }

    pub(super) fn mint_answered(
        &mut self,
        index: usize,
        reply: Reply,
        rules: &ClientRules,
    ) -> Verdict {
        let Phase::Held(lease) = &mut self.owners[index].phase else {
            return Ok(());
        };
        if reply.answer.is_none() && lease.is_valid() {
            return self.send(index, reply.kind, true);
        }
        lease.minting = false;
        match reply.answer {
            // The same token comes to whoever asks, so each turn adds its place.
            Some(Answer::Held { token, .. }) => lease.token = token + Token::from(lease.turn),
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
    pub(crate) fn lose(&mut self, index: usize, rules: &ClientRules) -> Verdict {
        let owner = &mut self.owners[index];
        let Phase::Held(lease) = &mut owner.phase else {
            unreachable!("only a held lease is lost");
        };
        lease.lost = true;
        let stays = rules.synchronous && lease.body == Body::Inside;
        let passes = std::mem::take(&mut owner.heads_queue);
        if passes && rules.seeded != Some(Seeded::HeadKept) {
            self.pass_head(Handoff::Fresh, rules)?;
        }
        if stays {
            return Ok(());
        }
        self.release(index, rules)
    }
}
