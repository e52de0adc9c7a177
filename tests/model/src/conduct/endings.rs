//! Owners that are ended, for as long as it may be needed.

use super::{Sent, Terms, count_from};
use crate::client::{Client, Episode, Phase, Step, Turn};
use crate::network::Kind;
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks};

impl Client {
    /// Ends an owner, unless nothing of it can be left.
    pub(super) fn end(&mut self, mut episode: Episode, terms: &Terms) -> Sent {
        if !episode.chain.stands {
            return Ok(());
        }
        (episode.heads, episode.waiting) = (false, false);
        episode.phase = Phase::Ending {
            step: Step::End,
            left: terms.window + terms.longest(),
            unanswered: false,
            late: false,
        };
        self.episodes.push(episode);
        self.send(self.episodes.len() - 1, Kind::End { next: None }, false)
    }

    pub(crate) fn end_again(&mut self, index: usize, terms: &Terms) -> Sent {
        if let Phase::Ending { left, late, .. } = &mut self.episodes[index].phase {
            *late = *left <= terms.longest();
        }
        self.send(index, Kind::End { next: None }, false)
    }

    /// A command of this owner's chain will not be answered.
    pub(crate) fn unanswered(&mut self, number: u8, terms: &Terms) -> Sent {
        let Some(index) = self.find(number) else {
            return Ok(());
        };
        self.episodes[index].waiting = false;
        match self.episodes[index].phase {
            Phase::Competing { once: true, .. } => self.give_up(index, terms),
            Phase::Competing { .. } | Phase::Held(_) | Phase::Named => Ok(()),
            Phase::Ending { step, .. } => self.step_done(number, step, None, 0, terms),
        }
    }

    /// The first end of an owner came to `answer`; `None`: it was not answered.
    pub(super) fn step_done(
        &mut self,
        number: u8,
        step: Step,
        answer: Option<Answer>,
        age: Ticks,
        terms: &Terms,
    ) -> Sent {
        let index = self.find(number).expect("it is being ended");
        if step == Step::Release && answer == Some(Answer::Code(2)) {
            if let Phase::Ending { step, .. } = &mut self.episodes[index].phase {
                *step = Step::End;
            }
            return self.send(index, Kind::End { next: None }, false);
        }
        if let Step::Bequeath(heir) = step {
            self.episodes[index].heads = false;
            let heir = self.find(heir).expect("it is named");
            let heir = self.episodes.remove(heir);
            let turn = match answer {
                Some(Answer::Held { flagged, token }) => {
                    Turn::Granted(heir, token, flagged, count_from(age, terms))
                }
                None | Some(Answer::Code(2) | Answer::Refused(_) | Answer::Unavailable) => {
                    Turn::Queued(heir)
                }
                Some(_) => {
                    if terms.seeded != Some(Seeded::HeirForgotten) {
                        self.end(heir, terms)?;
                    }
                    Turn::Start
                }
            };
            self.pass_turn(turn, terms)?;
        } else if std::mem::take(&mut self.episodes[index].heads) {
            self.pass_turn(Turn::Start, terms)?;
        }
        self.settle(number, step, answer, terms);
        Ok(())
    }

    /// Forgets an owner, or goes on ending it.
    pub(super) fn settle(&mut self, number: u8, step: Step, answer: Option<Answer>, terms: &Terms) {
        let index = self.find(number).expect("it is being ended");
        let episode = &mut self.episodes[index];
        let silent = matches!(answer, None | Some(Answer::Unavailable));
        let Phase::Ending {
            left,
            unanswered,
            late,
            ..
        } = episode.phase
        else {
            unreachable!("it is being ended");
        };
        let over = if terms.seeded == Some(Seeded::ForgottenInTime) {
            left <= terms.longest()
        } else {
            left == 0 || late && !silent
        };
        let unanswered = silent && (unanswered || step != Step::Settle);
        let tainted = episode.chain.tainted && terms.seeded != Some(Seeded::SettleUntilAnswered);
        episode.waiting = false;
        if !over && (unanswered || tainted) {
            episode.phase = Phase::Ending {
                step: Step::Settle,
                left,
                unanswered,
                late,
            };
        } else {
            self.episodes.remove(index);
        }
    }

    /// The connection breaks, and the next one is made.
    pub(crate) fn tear(&mut self, late: Ticks, terms: &Terms) -> Sent {
        self.link.tear(late);
        for episode in &mut self.episodes {
            episode.chain.torn();
            if let Phase::Held(hold) = &mut episode.phase {
                hold.renewing = false;
                hold.torn = terms.retain > 0;
            }
        }
        // Those that wait now: what is sent because of it goes over the next connection.
        let waiting = self.episodes.iter().filter(|episode| episode.waiting);
        let waiting: Vec<u8> = waiting.map(|episode| episode.number).collect();
        let retained = self.retained();
        if let Some(index) = retained.filter(|_| terms.seeded != Some(Seeded::RetainedTorn)) {
            // The next connection may lead to a server that knows nothing of the lease.
            self.give_back(index, terms)?;
        }
        for number in waiting {
            self.unanswered(number, terms)?;
        }
        Ok(())
    }
}
