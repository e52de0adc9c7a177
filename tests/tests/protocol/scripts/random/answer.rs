//! What the server answers, in the words of the model.

use harness::Answer;
use redis::RedisError;

use super::records::{COUNTED_ON_MS, near, near_token};
use super::stage::agree;
use crate::model::Expected;

pub(super) fn compare_renewal(
    answer: Result<Option<String>, RedisError>,
    expected: Expected,
) -> Result<(), String> {
    let answer = match answer {
        Ok(Some(text)) => Ok(Answer::held(&text)),
        Ok(None) => return agree("renewal", Expected::Code(None), expected),
        Err(error) => Err(error),
    };
    compare(answer, expected)
}

pub(super) fn compare(
    answer: Result<Answer, RedisError>,
    expected: Expected,
) -> Result<(), String> {
    let seen = match answer {
        Ok(Answer::Held { flag, token }) => {
            let token = token.parse().map_err(|_| format!("no token: {token:?}"))?;
            Expected::Held {
                flagged: flag == '+',
                token: match expected {
                    Expected::Held { token: near, .. } => near_token(token, near),
                    _ => token,
                },
            }
        }
        Ok(Answer::Waiting {
            remaining,
            position,
            ..
        }) => Expected::Waiting {
            remaining: match expected {
                Expected::Waiting { remaining: r, .. } if r >= 0 => {
                    near(remaining, r, COUNTED_ON_MS)
                }
                _ => remaining,
            },
            place: position as usize,
        },
        Ok(Answer::Code(code)) => Expected::Code(Some(code)),
        Err(error) => match error.code() {
            Some("WRONGTYPE") => Expected::WrongType,
            Some("LOCKFENCE") => Expected::BadFence,
            _ => return Err(error.to_string()),
        },
    };
    agree("answer", seen, expected)
}
