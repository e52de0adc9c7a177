//! Compares the server's answers with the model's.

use lock_model::quorum::scripts::Answer;
use redis::RedisResult;

use super::super::node::Reply;
use super::node::{Modelled, letter, near};
use crate::scripts::random::stage::agree;

impl Modelled<'_> {
    /// Compares the answer of acquire, yield or hold, after the records were compared.
    pub(super) fn answered(
        &self,
        who: char,
        reply: RedisResult<Reply>,
        answer: Answer,
    ) -> Result<(), String> {
        let reply = reply.map_err(|error| error.to_string())?;
        match (reply, answer) {
            (Reply::Held { flag, token, now }, Answer::Held { .. }) => {
                near("time", now / 1_000, self.now)?;
                let is_flagged = self.records.lock.is_some_and(|lock| lock.flagged);
                agree("flag in the answer", flag == '+', is_flagged)?;
                agree("token", token, self.token())
            }
            (Reply::Early { left, now }, Answer::Early { left: expected }) => {
                near("time", now / 1_000, self.now)?;
                agree("early", left, expected)
            }
            (
                Reply::Waiting {
                    remaining,
                    position,
                    value,
                    now,
                },
                Answer::Waiting {
                    holder,
                    remaining: expected,
                    position: place,
                },
            ) => {
                near("time", now / 1_000, self.now)?;
                agree("holder", value.chars().next(), holder.map(letter))?;
                near("remaining", remaining, expected)?;
                agree("position", position, self.place_on_server(who, place))
            }
            (Reply::Nil, Answer::Anothers) => Ok(()),
            (reply, answer) => Err(format!("answer: {reply:?}, the model {answer:?}")),
        }
    }

    pub(super) fn answered_end(
        &self,
        is_dead: bool,
        code: RedisResult<i64>,
        answer: Answer,
    ) -> Result<(), String> {
        let code = code.map_err(|error| error.to_string())?;
        let expected = match answer {
            Answer::Freed => 1,
            Answer::HandedOff => 2,
            Answer::Left => 3,
            // The model has dropped its entry.
            Answer::Nothing if is_dead => 3,
            answer => self.not_held(answer)?,
        };
        agree("end", code, expected)
    }

    pub(super) fn answered_release(
        &self,
        code: RedisResult<i64>,
        answer: Answer,
    ) -> Result<(), String> {
        let code = code.map_err(|error| error.to_string())?;
        let expected = match answer {
            Answer::Freed => 1,
            Answer::Contended => 2,
            answer => self.not_held(answer)?,
        };
        agree("release", code, expected)
    }

    fn not_held(&self, answer: Answer) -> Result<i64, String> {
        match (answer, self.records.lock) {
            (Answer::Nothing | Answer::Absent, None) => Ok(0),
            (Answer::Nothing | Answer::Anothers, Some(_)) => Ok(-1),
            (answer, lock) => Err(format!("the model answers {answer:?} for {lock:?}")),
        }
    }
}
