//! Answers, and their form in a transcript.

use harness::{Answer, Counted, code_of};
use redis::{RedisError, RedisResult};

use super::super::quorum::node::Reply;
use super::number::{is_near, ms};
use super::outside::in_full;
use super::world::{Snapshot, World, is_same};

/// The words for the numbers that scripts answer.
pub(crate) const CODES: &[(&str, i64)] = &[
    ("freed", 1),
    // The answers of an end and of a revocation, then of a release.
    ("handed", 2),
    ("contended", 2),
    ("left", 3),
    ("absent", 0),
    ("another", -1),
];

/// An answer to an owner that has the lock.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) flag: char,
    pub(crate) token: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// The number of the lock in the way, and whether the caller has a later one.
    pub(crate) at: Option<(usize, bool)>,
    pub(crate) remaining: i64,
    pub(crate) position: i64,
    pub(crate) value: String,
    pub(crate) counted: Option<Counted>,
}

#[derive(Debug)]
pub(crate) enum Got {
    /// An effect from outside.
    Nothing,
    Held(Held),
    /// A quorum's node does not vote for this long (ms).
    Early(i64),
    Waits(Waits),
    Code(i64),
    Nil,
    Failed(RedisError),
}

impl From<Answer> for Got {
    fn from(answer: Answer) -> Got {
        let token = matches!(answer, Answer::Held { .. }).then(|| answer.token());
        match (answer, token) {
            (Answer::Held { flag, .. }, Some(token)) => Got::Held(Held { flag, token }),
            (
                Answer::Waiting {
                    remaining,
                    position,
                    value,
                    counted,
                },
                _,
            ) => Got::Waits(Waits {
                remaining,
                position,
                value,
                counted,
                ..Waits::default()
            }),
            (Answer::Code(code), _) => Got::Code(code),
            (held, None) => unreachable!("{held:?} has a token"),
        }
    }
}

impl From<Option<String>> for Got {
    fn from(renewed: Option<String>) -> Got {
        renewed.map_or(Got::Nil, |text| Answer::held(&text).into())
    }
}

impl From<i64> for Got {
    fn from(code: i64) -> Got {
        Got::Code(code)
    }
}

impl From<Reply> for Got {
    fn from(reply: Reply) -> Got {
        match reply {
            Reply::Held { flag, token, .. } => Got::Held(Held { flag, token }),
            Reply::Early { left, .. } => Got::Early(left),
            Reply::Waiting {
                remaining,
                position,
                value,
                ..
            } => Got::Waits(Waits {
                remaining,
                position,
                value,
                ..Waits::default()
            }),
            Reply::Nil => Got::Nil,
        }
    }
}

impl<T: Into<Got>> From<RedisResult<T>> for Got {
    fn from(answer: RedisResult<T>) -> Got {
        answer.map_or_else(Got::Failed, Into::into)
    }
}

pub(crate) fn code_of_refusal(got: &Got) -> Option<String> {
    match got {
        Got::Failed(error) => Some(code_of(error).to_owned()),
        _ => None,
    }
}

/// The answer about all locks together.
pub(crate) fn of_all(answer: RedisResult<(usize, Answer)>, has_later: bool) -> Got {
    match answer.map(|(number, answer)| (number, Got::from(answer))) {
        Ok((number, Got::Waits(waits))) => {
            let at = Some((number, has_later));
            Got::Waits(Waits { at, ..waits })
        }
        Ok((_, got)) => got,
        Err(error) => Got::Failed(error),
    }
}

impl World {
    pub(crate) fn check_answer(
        &mut self,
        text: &str,
        got: &Got,
        before: &Snapshot,
    ) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let named = |code: i64| CODES.iter().any(|&(word, of)| word == text && of == code);
        match (words.first().copied().unwrap_or(""), got) {
            ("refused" | "fails", Got::Failed(error)) => {
                super::expect(code_of(error) == words[1], text, error)?;
                let is_same = words[0] == "fails" || is_same(before, &self.snapshot());
                for word in &words[2..] {
                    super::expect(error.to_string().contains(word), word, error)?;
                }
                super::expect(is_same, "that nothing is written", error)
            }
            (_, Got::Failed(error)) => super::expect(false, text, error),
            ("", _) => Ok(()),
            ("held" | "held+", &Got::Held(Held { flag, token })) => {
                super::expect((flag == '+') == (words[0] == "held+"), text, got)?;
                let mut tokens = words[1..].iter();
                tokens.try_for_each(|word| self.check_token(word, token))
            }
            ("early", &Got::Early(left)) => super::expect(ms(words[1]) == Some(left), text, got),
            ("waits", Got::Waits(waits)) => self.check_waiting(&words[1..], waits),
            ("nil", Got::Nil) => Ok(()),
            (_, &Got::Code(code)) if named(code) => Ok(()),
            _ => super::expect(false, text, got),
        }
    }

    fn check_waiting(&mut self, words: &[&str], waits: &Waits) -> Result<(), String> {
        let mut at = 1;
        for &word in words {
            let is_so = if let Some(number) = word.strip_prefix("at=") {
                at = number.parse().expect("a number");
                true
            } else if let Some(text) = word.strip_prefix("counted=") {
                waits
                    .counted
                    .is_some_and(|counted| is_counted(text, counted))
            } else if let Some(holder) = word.strip_prefix("holder=") {
                waits.value == in_full(holder)
            } else if let Some(expected) = ms(word) {
                is_near(waits.remaining, expected)
            } else if let Ok(place) = word.parse::<i64>() {
                waits.position == place
            } else {
                match word {
                    "forever" => waits.remaining == -1,
                    "uncounted" => waits.counted.is_none(),
                    "nobody" => waits.value.is_empty(),
                    begin => waits.value.starts_with(begin),
                }
            };
            super::expect(is_so, &format!("waits {}", words.join(" ")), waits)?;
        }
        let expected = (at, false);
        let is_so = waits.at.is_none_or(|at| at == expected);
        super::expect(
            is_so,
            &format!("a lock in the way, and a later one: {expected:?}"),
            waits,
        )
    }
}

/// `owners:taken:age` of the owners that share the lock.
fn is_counted(text: &str, counted: Counted) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let age = ms(parts[2]).expect("a span");
    is_near(counted.age, age)
        && parts[..2] == [counted.owners.to_string(), counted.taken.to_string()]
}
