//! Sends commands to one server, and repeats those that the server did not carry out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::{RedisError, Value};

use super::clock::CLOCK;
use super::command::{self, Argument};
use super::concurrency_limit::ConcurrencyLimit;
use super::connect::Setup;
use super::connection::{Connection, SendError};
use super::deletion::{self, Deletion};
use super::error_reply::{self, ErrorClass, classify};
use super::push::{NodeId, OnPush};
use super::reconnect_pause::SHORTEST_PAUSE;
use super::scripts::{self, Script};
use super::shared_connection::SharedConnection;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::owner::QueueEntry;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{Renewal, WireEvents};
use crate::control::is_removed;
use crate::key::NameSet;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;

/// One server that keeps locks.
pub(super) struct Node {
    connection: SharedConnection,
    /// A limit of its own for each, so that releases do not wait for acquisitions.
    pub(super) acquiring: ConcurrencyLimit,
    pub(super) ending: ConcurrencyLimit,
}

/// The outcome of a renewal.
pub(super) type Renewed = Result<Answered<Option<Grant>>, WireError>;

/// The progress of a command.
pub(super) enum SendEvent {
    /// The command is about to be sent.
    Sending(ConnectionId),
    /// The command was not sent after all, and will be sent on another connection.
    Unsent(ConnectionId),
    Answered(ConnectionId),
}

/// A call of a script.
pub(super) struct ScriptCall<'a> {
    pub(super) script: &'a Script,
    pub(super) names: &'a NameSet,
    /// The arguments of the script, besides its keys.
    pub(super) arguments: &'a [Argument<'a>],
    /// The holder's entry and token if this is a release, for a server that can compare and delete.
    pub(super) holder: Option<(&'a QueueEntry, FencingToken)>,
}

impl Node {
    pub(super) fn new(
        id: NodeId,
        setup: Setup,
        events: Arc<dyn WireEvents>,
        on_push: OnPush,
    ) -> Node {
        let command_timeout = setup.command_timeout;
        Node {
            connection: SharedConnection::new(id, setup, events, on_push),
            acquiring: ConcurrencyLimit::new(command_timeout),
            ending: ConcurrencyLimit::new(command_timeout),
        }
    }

    /// Runs a script for one owner. `note` is called with each step of the command, and with
    /// [`SendEvent::Sending`] before the command is sent. The returned time is before the sending that was
    /// answered.
    pub(super) async fn run(
        &self,
        limit: &ConcurrencyLimit,
        call: &ScriptCall<'_>,
        mut note: impl FnMut(SendEvent),
    ) -> Result<Answered<Value>, WireError> {
        let until = self.connection.until();
        let mut connection = self.connection.get(until).await?;
        let _permit = match limit.try_permit() {
            Some(permit) => permit,
            None => {
                let permit = limit.permit(self.connection.timers(), until).await?;
                // The connection may have been replaced meanwhile.
                connection = self.connection.get(until).await?;
                permit
            }
        };
        let (mut by_source, mut unsent, mut by_script) = (false, 0, false);
        loop {
            let holder = call.holder.filter(|_| !by_script);
            let deletion = holder.zip(connection.deletion());
            let is_script = deletion.is_none();
            let write = |output: &mut Vec<u8>| match deletion {
                Some(((entry, token), deletion)) => {
                    deletion.write(output, &call.names.first().lock, entry, token);
                }
                None => call
                    .script
                    .write(output, by_source, call.names, call.arguments),
            };
            note(SendEvent::Sending(connection.id));
            let at = CLOCK.now();
            let value = match self.connection.send(&connection, write, until).await {
                Ok(value) if is_script => value,
                Ok(value) => Deletion::release_answer(value),
                Err(SendError::Unsent) => {
                    note(SendEvent::Unsent(connection.id));
                    connection = self.reconnect(&mut unsent, until).await?;
                    continue;
                }
                Err(error) => return Err(self.describe(error)),
            };
            note(SendEvent::Answered(connection.id));
            let at = match is_removed!("lease_from_before_the_acquire") {
                true => CLOCK.now(),
                false => at,
            };
            match value.extract_error() {
                Ok(answer) => return Ok(Answered { at, answer }),
                Err(error) => match self.classify(&connection, &error) {
                    // The caller gets the answer to the script, even if that is refused as well.
                    Some(WireError::Refused(_)) if !is_script => {
                        by_script = true;
                        if deletion::is_unusable(&error) {
                            connection.note_refused_deletion();
                        }
                    }
                    None if !by_source => by_source = true,
                    None => return Err(script_lost()),
                    Some(error) => return Err(error),
                },
            }
        }
    }

    /// Extends leases in one pipeline, which `write` appends, with or without the scripts. If the server lacks a script, a second pipeline carries it.
    pub(super) async fn renew(
        &self,
        renewals: &[Renewal],
        write: impl Fn(&mut Vec<u8>, &[&Renewal], bool),
    ) -> Vec<Renewed> {
        let until = self.connection.until();
        let mut connection = match self.connection.get(until).await {
            Ok(connection) => connection,
            Err(error) => return renewals.iter().map(|_| Err(error.clone())).collect(),
        };
        let all: Vec<&Renewal> = renewals.iter().collect();
        let write_all =
            |output: &mut Vec<u8>, renewals: &[&Renewal]| write(output, renewals, false);
        let mut results = self
            .renew_all(&mut connection, &all, write_all, until)
            .await;
        let lacks_script = |result: &Option<Renewed>| result.is_none();
        let missed: Vec<&Renewal> = all
            .iter()
            .zip(&results)
            .filter(|(_, result)| lacks_script(result))
            .map(|(&renewal, _)| renewal)
            .collect();
        if !missed.is_empty() {
            let write_all =
                |output: &mut Vec<u8>, renewals: &[&Renewal]| write(output, renewals, true);
            let repeated = self
                .renew_all(&mut connection, &missed, write_all, until)
                .await;
            results
                .iter_mut()
                .filter(|result| lacks_script(result))
                .zip(repeated)
                .for_each(|(result, repeated)| *result = repeated);
        }
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(|| Err(script_lost())))
            .collect()
    }

    /// Sends renewals in the pipeline that `write` appends. A result is `None` if the server lacks the script.
    async fn renew_all(
        &self,
        connection: &mut Arc<Connection>,
        renewals: &[&Renewal],
        write: impl Fn(&mut Vec<u8>, &[&Renewal]),
        until: Instant,
    ) -> Vec<Option<Renewed>> {
        let write = |output: &mut Vec<u8>| write(output, renewals);
        let count = renewals.len();
        let mut unsent = 0;
        let (at, answered) = loop {
            let at = CLOCK.now();
            let answers = self.connection.send_all(connection, count, write, until);
            match answers.await {
                Err(SendError::Unsent) => match self.reconnect(&mut unsent, until).await {
                    Ok(another) => *connection = another,
                    Err(error) => break (at, Err(error)),
                },
                answers => break (at, answers.map_err(|error| self.describe(error))),
            }
        };
        let at = match is_removed!("lease_from_before_the_renewal") {
            true => CLOCK.now(),
            false => at,
        };
        let error = match answered {
            Ok(answers) if answers.len() == renewals.len() => {
                let read = |answer: Value| match answer.extract_error() {
                    Ok(value) => {
                        let answer = scripts::parse_renew_reply(&value);
                        Some(answer.map(|answer| Answered { at, answer }))
                    }
                    Err(error) => self.classify(connection, &error).map(Err),
                };
                return answers.into_iter().map(read).collect();
            }
            Ok(_) => WireError::unavailable("some answers are missing"),
            Err(error) => error,
        };
        renewals.iter().map(|_| Some(Err(error.clone()))).collect()
    }

    /// Reconnects to resend a command of which nothing was written; pauses from the second time on.
    async fn reconnect(
        &self,
        unsent: &mut u32,
        until: Instant,
    ) -> Result<Arc<Connection>, WireError> {
        *unsent += 1;
        if *unsent > 1 {
            // The server accepts connections and closes them at once.
            let pause = Instant::now() + SHORTEST_PAUSE;
            self.connection.timers().sleep_until(pause).await;
        }
        self.connection.get(until).await
    }

    /// Classifies an error of the server, and closes the connection if that is no longer of use. `None` if the
    /// server lacks the script.
    fn classify(&self, connection: &Connection, error: &RedisError) -> Option<WireError> {
        match classify(error) {
            ErrorClass::NoScript => None,
            ErrorClass::Final(error) => Some(error),
            ErrorClass::Reconnect(detail) => {
                self.connection.drop_connection(connection, &detail);
                Some(WireError::unavailable(detail))
            }
        }
    }

    fn describe(&self, error: SendError) -> WireError {
        match error {
            SendError::TimedOut => {
                let timeout: Duration = self.connection.command_timeout();
                WireError::unavailable(format!("the server did not answer within {timeout:?}"))
            }
            SendError::Unsent => WireError::unavailable("the connection broke"),
            SendError::Broken(error) => {
                WireError::unavailable(error_reply::describe_broken(&error))
            }
        }
    }

    /// Reads the messages that have arrived. They are handled before this returns.
    pub(super) fn read_messages(&self) {
        self.connection.read_messages();
    }

    /// Has messages read from now on although no command is sent.
    pub(super) fn keep_reading_messages(&self) {
        self.connection.keep_reading_messages();
    }

    /// Checks that the server answers.
    pub(super) async fn ping(&self) -> Result<(), WireError> {
        let connection = self.connect().await?;
        let write = |output: &mut Vec<u8>| command::write(output, &[Argument::Text("PING")]);
        self.send_on(&connection, write).await
    }

    /// The connection, made if there is none.
    pub(super) async fn connect(&self) -> Result<Arc<Connection>, WireError> {
        self.connection.get(self.connection.until()).await
    }

    /// The connection, if there is one.
    pub(super) fn connected(&self) -> Option<Arc<Connection>> {
        self.connection.current()
    }

    /// Sends the command that `write` appends, which is no script, and waits until it is confirmed.
    pub(super) async fn send_on(
        &self,
        connection: &Connection,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), WireError> {
        let until = self.connection.until();
        let answer = self.connection.send(connection, write, until).await;
        let answer = answer.map_err(|error| self.describe(error))?;
        match answer.extract_error() {
            Ok(_) => Ok(()),
            Err(error) => Err(self
                .classify(connection, &error)
                .unwrap_or_else(|| WireError::unavailable("NOSCRIPT"))),
        }
    }
}

fn script_lost() -> WireError {
    WireError::unavailable("the server forgets its scripts")
}
