//! Queries one node: runs read-only commands as one transaction.

use std::sync::Arc;
use std::time::Instant;

use redis::Value;

use super::Node;
use crate::backend::redis::connection::{Connection, SendError};
use crate::backend::redis::encoder::{self, Argument};
use crate::backend::redis::error_reply::{self, sanitize, words_of};
use crate::backend::redis::node::NodeError;
use crate::backend::redis::transport::WriteCommands;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::ServerReply;
use crate::state::Answer;

pub(in crate::backend::redis) type Command<'a> = Vec<Argument<'a>>;

/// The answers to commands that were sent together. Each of them may be an error.
pub(in crate::backend::redis) struct Answers {
    pub(in crate::backend::redis) connection: Arc<Connection>,
    pub(in crate::backend::redis) values: Vec<Value>,
}

/// Returns whether an answer is the error for a key with another type than the command expects.
pub(in crate::backend::redis) fn is_of_another_type(answer: &Value) -> bool {
    matches!(answer, Value::ServerError(error) if error.code() == "WRONGTYPE")
}

fn is_of_a_lost_login(answer: &Value) -> bool {
    let error = matches!(answer, Value::ServerError(_)).then(|| answer.clone().extract_error());
    matches!(error, Some(Err(error)) if error_reply::is_of_a_lost_login(&error))
}

fn is_out_of_memory(answer: &Value) -> bool {
    matches!(answer, Value::ServerError(error) if error.code() == "OOM")
}

/// Runs read-only commands as one transaction.
pub(in crate::backend::redis) trait Ask: Sync {
    /// Sends the commands. The answers may be errors about the record, such as its type.
    fn ask(
        &self,
        record: &str,
        commands: &[Command<'_>],
    ) -> impl Future<Output = Result<Vec<Value>, WireError>> + Send;
}

impl Ask for Node {
    async fn ask(&self, _: &str, commands: &[Command<'_>]) -> Result<Vec<Value>, WireError> {
        let asked = self.ask_together(commands, self.until()).await;
        asked.map_err(NodeError::into_wire)
    }
}

impl Node {
    /// Sends commands together, so that no other command of this client comes in between.
    pub(in crate::backend::redis) async fn ask_all(
        &self,
        commands: &[Command<'_>],
        until: Instant,
    ) -> Result<Answers, NodeError> {
        let write = |output: &mut Vec<u8>| {
            for words in commands {
                encoder::write(output, words);
            }
        };
        self.ask_written(commands.len(), &write, until).await
    }

    /// Like `ask_all`, but for `count` commands that `write` appends.
    pub(in crate::backend::redis) async fn ask_written(
        &self,
        count: usize,
        write: WriteCommands<'_>,
        until: Instant,
    ) -> Result<Answers, NodeError> {
        let mut connection = self.connect(until).await?;
        let mut unsent = 0;
        loop {
            let sent = self.connection.send_all(&connection, count, write, until);
            match sent.await {
                Ok(values) if values.len() == count => {
                    let lost = values.iter().find(|value| is_of_a_lost_login(value));
                    return match lost.and_then(|value| self.error_in(&connection, value)) {
                        Some(error) => Err(error),
                        None => Ok(Answers { connection, values }),
                    };
                }
                Ok(_) => {
                    let error = WireError::unavailable("some answers are missing");
                    return Err(NodeError::Final(error));
                }
                Err(SendError::Unsent) => connection = self.reconnect(&mut unsent, until).await?,
                Err(error) => return Err(self.describe(error)),
            }
        }
    }

    /// Sends commands of any kind, for people to read the answers.
    pub(in crate::backend::redis) async fn ask_words(
        &self,
        commands: &[Vec<String>],
        until: Instant,
    ) -> ServerReply {
        let words = commands.iter().map(|words| words.iter());
        let all: Vec<Command<'_>> = words
            .map(|words| words.map(|word| Argument::Text(word)).collect())
            .collect();
        let asked = self.ask_all(&all, until).await;
        let Answers { values, .. } = asked.map_err(NodeError::into_wire)?;
        Ok(values.into_iter().map(answer).collect())
    }

    /// Like `ask_words`, but does not wait for a server that is down: the other servers' answers are about this moment.
    pub(in crate::backend::redis) async fn ask_words_now(
        &self,
        commands: &[Vec<String>],
        until: Instant,
    ) -> ServerReply {
        match self.put_off() {
            Some(error) => Err(error),
            None => self.ask_words(commands, until).await,
        }
    }

    /// Sends commands that the server runs as one transaction. The answers may be errors about a record, such as its
    /// type.
    ///
    /// A full server queues nothing for a transaction, although it carries out what only reads. It gets the commands one by one,
    /// so that operators see its locks: an answer may then be some microseconds newer than the one before.
    pub(in crate::backend::redis) async fn ask_together(
        &self,
        commands: &[Command<'_>],
        until: Instant,
    ) -> Result<Vec<Value>, NodeError> {
        let mut all = vec![vec![Argument::Text("MULTI")]];
        all.extend_from_slice(commands);
        all.push(vec![Argument::Text("EXEC")]);
        let Answers { connection, values } = self.ask_all(&all, until).await?;
        if values.iter().any(is_out_of_memory) {
            return Ok(self.ask_all(commands, until).await?.values);
        }
        // The first error is the cause of the others.
        let failed = values
            .iter()
            .find_map(|value| self.error_in(&connection, value));
        match (failed, values.into_iter().next_back()) {
            (Some(error), _) => Err(error),
            (None, Some(Value::Array(answers))) if answers.len() == commands.len() => Ok(answers),
            (None, _) => Err(NodeError::Final(WireError::refused(
                "the server's answer to EXEC is unknown",
            ))),
        }
    }

    /// Classifies an answer that is an error.
    pub(in crate::backend::redis) fn error_in(
        &self,
        connection: &Connection,
        value: &Value,
    ) -> Option<NodeError> {
        if !matches!(value, Value::ServerError(_)) {
            return None;
        }
        let error = value.clone().extract_error().err()?;
        let no_script = || NodeError::Final(WireError::unavailable("NOSCRIPT"));
        Some(self.classify(connection, &error).unwrap_or_else(no_script))
    }
}

fn answer(value: Value) -> Answer {
    let list = |values: Vec<Value>| Answer::List(values.into_iter().map(answer).collect());
    match value {
        Value::Nil => Answer::Nil,
        Value::Int(number) => Answer::Integer(number),
        Value::BulkString(bytes) => Answer::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Answer::Text(text),
        Value::Okay => Answer::Text("OK".to_owned()),
        Value::Double(number) => Answer::Text(number.to_string()),
        Value::Boolean(is_so) => Answer::Integer(i64::from(is_so)),
        Value::Array(values) | Value::Set(values) => list(values),
        Value::Map(pairs) => list(
            pairs
                .into_iter()
                .flat_map(|(key, value)| [key, value])
                .collect(),
        ),
        Value::ServerError(error) => Answer::Error(words_of(&error)),
        other => Answer::Error(sanitize(&format!("an answer of another kind: {other:?}"))),
    }
}
