//! Holders: they are handed the lock, renew it, lose it and give it back.

use super::{Sent, Terms, count_from};
use crate::client::{Body, Client, Episode, Hold, Phase, Step, Turn};
use crate::network::{Kind, Reply};
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks, Token};

impl Client {
    pub(super) fn new_hold(&self, token: Token, deadline: Ticks, contended: bool) -> Hold {
        Hold {
            token,
            deadline,
            body: Body::Outside,
            lost: false,
            contended,
            renewing: false,
            turn: 0,
            since: 0,
            retained: 0,
            torn: false,
        }
    }

    /// The lock is handed over, if there is time left.
    pub(crate) fn start(&mut self, index: usize) {
        if let Phase::Held(hold) = &mut self.episodes[index].phase {
            hold.body = Body::Inside;
        }
    }

    pub(crate) fn renew(&mut self, index: usize, ttl: Ticks) -> Sent {
        if let Phase::Held(hold) = &mut self.episodes[index].phase {
            hold.renewing = true;
        }
        self.send(index, Kind::Renew { ttl }, false)
    }

    pub(super) fn renewed(
        &mut self,
        index: usize,
        ttl: Ticks,
        reply: Reply,
        terms: &Terms,
    ) -> Sent {
        let Phase::Held(hold) = &mut self.episodes[index].phase else {
            return Ok(());
        };
        match reply.answer {
            None if hold.is_valid() => return self.send(index, reply.kind, true),
            // Too late: it is lost already.
            Some(Answer::Held { flagged, .. }) if hold.is_valid() => {
                hold.deadline = hold.deadline.max(ttl - count_from(reply.age, terms));
                hold.contended |= flagged;
            }
            Some(Answer::Nil) if !hold.lost => {
                hold.deadline = 0;
                hold.renewing = false;
                return self.lose(index, terms);
            }
            _ => {}
        }
        hold.renewing = false;
        Ok(())
    }

    /// A hold is found lost: the next in line need not wait for its body, which is dropped if it can
    /// be.
    pub(crate) fn lose(&mut self, index: usize, terms: &Terms) -> Sent {
        let episode = &mut self.episodes[index];
        let Phase::Held(hold) = &mut episode.phase else {
            unreachable!("only a hold is lost");
        };
        hold.lost = true;
        let stays = terms.synchronous && hold.body == Body::Inside;
        let passes = std::mem::take(&mut episode.heads);
        if passes && terms.seeded != Some(Seeded::TurnKept) {
            self.pass_turn(Turn::Start, terms)?;
        }
        if stays {
            return Ok(());
        }
        self.give_back(index, terms)
    }

    /// The body is over, or was dropped: gives the lock back.
    pub(crate) fn give_back(&mut self, index: usize, terms: &Terms) -> Sent {
        let Phase::Held(hold) = self.episodes[index].phase else {
            unreachable!("only a hold is given back");
        };
        if self.take_turn(index, terms)? || self.retain(index, terms) {
            return Ok(());
        }
        let next = self.line.first().copied();
        let next = next.filter(|_| self.episodes[index].heads);
        let (step, kind) = if let Some(ttl) = next {
            let heir = self.new_number();
            let named = Episode::new(heir, ttl, false, Phase::Named);
            self.episodes.push(named);
            let next = Some((heir, ttl));
            (Step::Bequeath(heir), Kind::End { next })
        } else if hold.contended {
            (Step::End, Kind::End { next: None })
        } else {
            (
                Step::Release,
                match terms.deletes {
                    // The record has the token of the grant, whoever's turn it is.
                    true => Kind::Delete {
                        token: hold.token - Token::from(hold.turn),
                    },
                    false => Kind::Release,
                },
            )
        };
        self.episodes[index].phase = Phase::Ending {
            step,
            left: terms.window + terms.longest(),
            unanswered: false,
            late: false,
        };
        self.send(index, kind, false)
    }
}
