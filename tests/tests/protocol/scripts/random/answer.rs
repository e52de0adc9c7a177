//! Translates the server's answers for the model.

use harness::{Answer, code_of};
use lock_model::server;
use redis::RedisError;

use super::model::{refusal, ticks};
use super::records::{minted, near_rest, near_token};
use super::stage::agree;

/// Compares an answer or a refusal with the model's.
pub(crate) fn compare<T>(
    answer: Result<T, RedisError>,
    expected: server::Answer,
    read: impl FnOnce(T, server::Answer) -> Result<server::Answer, String>,
) -> Result<(), String> {
    let seen = match answer {
        Ok(answer) => read(answer, expected)?,
        Err(error) => {
            let refusal = refusal(code_of(&error));
            server::Answer::Refused(refusal.ok_or_else(|| error.to_string())?)
        }
    };
    agree("answer", seen, expected)
}

pub(crate) fn code(code: i64, _: server::Answer) -> Result<server::Answer, String> {
    Ok(server::Answer::Code(code as i8))
}

pub(crate) fn renewal(
    answer: Option<String>,
    expected: server::Answer,
) -> Result<server::Answer, String> {
    match answer {
        Some(text) => any(Answer::held(&text), expected),
        None => Ok(server::Answer::Nil),
    }
}

/// The value of the lock that a caller is answered who must wait.
pub(crate) fn shown(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Waiting { value, .. } => Some(value.clone()),
        _ => None,
    }
}

/// The answers of `acquire` and `end`.
pub(crate) fn any(answer: Answer, expected: server::Answer) -> Result<server::Answer, String> {
    Ok(match answer {
        Answer::Held { flag, token } => {
            let token = token.parse().map(minted);
            let token = token.map_err(|_| format!("no token in an answer: {flag:?}"))?;
            server::Answer::Held {
                flagged: flag == '+',
                token: match expected {
                    server::Answer::Held { token: near, .. } => near_token(token, near),
                    _ => token,
                },
            }
        }
        Answer::Waiting {
            remaining,
            position,
            counted: Some(counted),
            ..
        } => {
            let remaining = (remaining >= 0).then(|| ticks(remaining));
            let near = match expected {
                server::Answer::WaitingForShares { remaining, .. } => remaining,
                _ => None,
            };
            server::Answer::WaitingForShares {
                remaining: near_rest(remaining, near),
                position: position as u8,
                owners: counted.owners as u8,
                taken: counted.taken as i32,
            }
        }
        Answer::Waiting {
            remaining,
            position,
            ..
        } => {
            let remaining = (remaining >= 0).then(|| ticks(remaining));
            server::Answer::Waiting {
                remaining: match expected {
                    server::Answer::Waiting {
                        remaining: near, ..
                    } => near_rest(remaining, near),
                    _ => remaining,
                },
                position: position as u8,
            }
        }
        Answer::Code(code) => server::Answer::Code(code as i8),
    })
}
