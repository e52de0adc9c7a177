//! Callers: they come, wait in line and in the queue, and give up.

use super::{Sent, Terms, count_from};
use crate::client::{Client, Episode, Phase, Turn};
use crate::network::Kind;
use crate::seeded::Seeded;
use crate::server::{Answer, Ticks};

impl Client {
    /// A caller comes: it heads the line, or waits in it.
    pub(crate) fn arrive(&mut self, terms: &Terms) -> Sent {
        self.to_come -= 1;
        let ttl = terms.ttls[usize::from(self.to_come % 2)];
        if self.take_retained(ttl, terms)? {
            return Ok(());
        }
        if self.headed {
            self.line.push(ttl);
            return Ok(());
        }
        self.headed = true;
        let index = self.begin(ttl, true, false);
        self.poll(index)
    }

    /// A caller that does not wait comes.
    pub(crate) fn try_once(&mut self, terms: &Terms) -> Sent {
        if self.take_retained(terms.ttls[0], terms)? {
            return Ok(());
        }
        let heads = !self.headed;
        self.headed = true;
        let index = self.begin(terms.ttls[0], heads, true);
        self.poll(index)
    }

    pub(super) fn begin(&mut self, ttl: Ticks, heads: bool, once: bool) -> usize {
        let phase = Phase::Competing {
            once,
            contended: false,
        };
        let number = self.new_number();
        self.episodes.push(Episode::new(number, ttl, heads, phase));
        self.episodes.len() - 1
    }

    pub(crate) fn poll(&mut self, index: usize) -> Sent {
        let queue = !matches!(
            self.episodes[index].phase,
            Phase::Competing { once: true, .. }
        );
        let ttl = self.episodes[index].ttl;
        self.send(index, Kind::Acquire { ttl, queue }, false)
    }

    pub(super) fn polled(
        &mut self,
        index: usize,
        once: bool,
        contended: bool,
        answer: Answer,
        age: Ticks,
        terms: &Terms,
    ) -> Sent {
        match answer {
            Answer::Held { flagged, token } => {
                let age = count_from(age, terms);
                let ttl = self.episodes[index].ttl;
                if age < ttl {
                    let hold = self.new_hold(token, ttl - age, flagged || contended);
                    self.episodes[index].phase = Phase::Held(hold);
                }
                Ok(())
            }
            Answer::Waiting { .. } => {
                self.episodes[index].chain.not_held();
                if once {
                    return self.give_up(index, terms);
                }
                self.episodes[index].phase = Phase::Competing {
                    once,
                    contended: true,
                };
                Ok(())
            }
            Answer::Refused(_) => {
                let mut episode = self.episodes.remove(index);
                episode.chain.not_held();
                let heads = std::mem::take(&mut episode.heads);
                self.end(episode, terms)?;
                if heads {
                    return self.pass_turn(Turn::Start, terms);
                }
                Ok(())
            }
            _ if once => self.give_up(index, terms),
            _ => Ok(()),
        }
    }

    /// A caller's time is up, or it is dropped, before its body began.
    pub(crate) fn give_up(&mut self, index: usize, terms: &Terms) -> Sent {
        if self.episodes[index].hold().is_some() {
            return self.give_back(index, terms);
        }
        let mut episode = self.episodes.remove(index);
        self.link.mute(episode.number);
        episode.waiting = false;
        if !episode.heads {
            return self.end(episode, terms);
        }
        let turn = if episode.chain.stands {
            Turn::Queued(episode)
        } else {
            Turn::Start
        };
        self.pass_turn(turn, terms)
    }

    /// Hands the head of the line to the next one.
    pub(super) fn pass_turn(&mut self, turn: Turn, terms: &Terms) -> Sent {
        if self.line.is_empty() {
            self.headed = false;
            return match turn {
                Turn::Granted(..) if terms.seeded == Some(Seeded::HeirOrphaned) => Ok(()),
                Turn::Start => Ok(()),
                Turn::Queued(episode) | Turn::Granted(episode, ..) => self.end(episode, terms),
            };
        }
        let ttl = self.line.remove(0);
        let competing = Phase::Competing {
            once: false,
            contended: false,
        };
        let (mut episode, phase) = match turn {
            Turn::Start => {
                self.begin(ttl, true, false);
                return Ok(());
            }
            // An owner asks for one ttl all its life, since an acquire sets it, however late it comes.
            Turn::Queued(episode) | Turn::Granted(episode, ..)
                if episode.ttl != ttl && terms.seeded != Some(Seeded::OwnerOfAnotherTtl) =>
            {
                self.begin(ttl, true, false);
                return self.end(episode, terms);
            }
            Turn::Queued(episode) => (episode, competing),
            Turn::Granted(episode, token, flagged, age) if episode.ttl == ttl && age < ttl => {
                let hold = self.new_hold(token, ttl - age, flagged);
                (episode, Phase::Held(hold))
            }
            Turn::Granted(episode, ..) => (episode, competing),
        };
        (episode.heads, episode.waiting, episode.phase) = (true, false, phase);
        episode.ttl = ttl;
        self.episodes.push(episode);
        Ok(())
    }

    /// Refuses new work, and gives back what can be.
    pub(crate) fn shut_down(&mut self, terms: &Terms) -> Sent {
        self.to_come = 0;
        self.line.clear();
        for number in self.numbers() {
            let Some(index) = self.find(number) else {
                continue;
            };
            match self.episodes[index].phase {
                Phase::Competing { .. } => self.give_up(index, terms)?,
                Phase::Held(_) => self.lose(index, terms)?,
                Phase::Named | Phase::Ending { .. } => {}
            }
        }
        Ok(())
    }
}
