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
use super::push::OnPush;
use super::reconnect_pause::SHORTEST_PAUSE;
use super::redirect::Redirect;
use super::renewals::write_renewals;
use super::scripts::{self, Script};
use super::shared_connection::SharedConnection;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::owner::QueueEntry;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{NodeId, Renewal, WireEvents};
use crate::control::is_removed;
use crate::key::NameSet;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;

/// One server that keeps locks.
pub(super) struct Node {
    connection: SharedConnection,
    /// A limit of its own for each, so that releases do not wait for acquisitions.
    acquiring: ConcurrencyLimit,
    ending: ConcurrencyLimit,
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Acquire,
    End,
}

/// The outcome of a renewal.
pub(super) type Renewed = Result<Answered<Option<Grant>>, NodeError>;

/// Why a node has not carried a command out, as far as is known.
#[derive(Clone, Debug)]
pub(super) enum NodeError {
    /// Another node has the lock. Nothing was carried out.
    Redirected(Box<Redirect>),
    /// The records of the lock are on two nodes while its slot moves. Nothing was carried out.
    SlotMoves(WireError),
    /// The node cannot carry the command out for a moment. Nothing was carried out.
    NotNow(WireError),
    /// There is no connection, or it broke, or the server has become a replica.
    Gone(WireError),
    Final(WireError),
}

impl NodeError {
    /// The error for the caller, of a server that is to have all locks.
    pub(super) fn into_wire(self) -> WireError {
        match self {
            NodeError::Redirected(_) => WireError::refused(error_reply::OF_A_CLUSTER),
            NodeError::SlotMoves(error)
            | NodeError::NotNow(error)
            | NodeError::Gone(error)
            | NodeError::Final(error) => error,
        }
    }
}

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
        let command_timeout = setup.settings.command_timeout;
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
        purpose: Purpose,
        call: &ScriptCall<'_>,
        until: Instant,
        mut note: impl FnMut(SendEvent),
    ) -> Result<Answered<Value>, NodeError> {
        let mut connection = self.connect(until).await?;
        let limit = match purpose {
            Purpose::Acquire => &self.acquiring,
            Purpose::End => &self.ending,
        };
        let _permit = match limit.try_permit() {
            Some(permit) => permit,
            None => {
                let permit = limit.permit(self.connection.timers(), until).await;
                let permit = permit.map_err(NodeError::Final)?;
                // The connection may have been replaced meanwhile.
                connection = self.connect(until).await?;
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
                    Some(NodeError::Final(WireError::Refused(_))) if !is_script => {
                        by_script = true;
                        if deletion::is_unusable(&error) {
                            connection.note_refused_deletion();
                        }
                    }
                    None if !by_source => by_source = true,
                    None => return Err(NodeError::Final(script_lost())),
                    Some(error) => return Err(error),
                },
            }
        }
    }

    /// As [`run`](Node::run), on a node that does not have the slot of the lock yet. The permission to ask travels
    /// with the script: between them, another command would use it up. The script is sent with its source, since a
    /// node that is given a slot may have none.
    pub(super) async fn run_asking(
        &self,
        call: &ScriptCall<'_>,
        until: Instant,
        mut note: impl FnMut(SendEvent),
    ) -> Result<Answered<Value>, NodeError> {
        let write = |output: &mut Vec<u8>| {
            command::write(output, &[Argument::Text("ASKING")]);
            call.script.write(output, true, call.names, call.arguments);
        };
        let mut connection = self.connect(until).await?;
        let mut unsent = 0;
        loop {
            note(SendEvent::Sending(connection.id));
            let at = CLOCK.now();
            let sent = self.connection.send_all(&connection, 2, write, until);
            let mut answers = match sent.await {
                Ok(answers) => answers,
                Err(SendError::Unsent) => {
                    note(SendEvent::Unsent(connection.id));
                    connection = self.reconnect(&mut unsent, until).await?;
                    continue;
                }
                Err(error) => return Err(self.describe(error)),
            };
            note(SendEvent::Answered(connection.id));
            let answer = answers.pop().unwrap_or(Value::Nil);
            return match answer.extract_error() {
                Ok(answer) => Ok(Answered { at, answer }),
                Err(error) => {
                    let lost = || NodeError::Final(script_lost());
                    Err(self.classify(&connection, &error).unwrap_or_else(lost))
                }
            };
        }
    }

    /// Extends leases in one pipeline. If the server lacks a script, a second pipeline carries it.
    pub(super) async fn renew(&self, renewals: &[&Renewal], until: Instant) -> Vec<Renewed> {
        let mut connection = match self.connect(until).await {
            Ok(connection) => connection,
            Err(error) => return renewals.iter().map(|_| Err(error.clone())).collect(),
        };
        let mut results = self
            .renew_all(&mut connection, renewals, false, until)
            .await;
        let lacks_script = |result: &Option<Renewed>| result.is_none();
        let missed: Vec<&Renewal> = renewals
            .iter()
            .zip(&results)
            .filter(|(_, result)| lacks_script(result))
            .map(|(&renewal, _)| renewal)
            .collect();
        if !missed.is_empty() {
            let repeated = self.renew_all(&mut connection, &missed, true, until).await;
            results
                .iter_mut()
                .filter(|result| lacks_script(result))
                .zip(repeated)
                .for_each(|(result, repeated)| *result = repeated);
        }
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(|| Err(NodeError::Final(script_lost()))))
            .collect()
    }

    /// Sends renewals in one pipeline. If `by_source`, the first of each script carries it. A result is `None` if the
    /// server lacks the script.
    async fn renew_all(
        &self,
        connection: &mut Arc<Connection>,
        renewals: &[&Renewal],
        by_source: bool,
        until: Instant,
    ) -> Vec<Option<Renewed>> {
        let write = |output: &mut Vec<u8>| write_renewals(output, renewals, by_source);
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
                        let answered = answer.map(|answer| Answered { at, answer });
                        Some(answered.map_err(NodeError::Final))
                    }
                    Err(error) => self.classify(connection, &error).map(Err),
                };
                return answers.into_iter().map(read).collect();
            }
            Ok(_) => NodeError::Final(WireError::unavailable("some answers are missing")),
            Err(error) => error,
        };
        renewals.iter().map(|_| Some(Err(error.clone()))).collect()
    }

    /// Reconnects to resend a command of which nothing was written; pauses from the second time on.
    async fn reconnect(
        &self,
        unsent: &mut u32,
        until: Instant,
    ) -> Result<Arc<Connection>, NodeError> {
        *unsent += 1;
        if *unsent > 1 {
            // The server accepts connections and closes them at once.
            let pause = Instant::now() + SHORTEST_PAUSE;
            self.connection.timers().sleep_until(pause).await;
        }
        self.connect(until).await
    }

    async fn connect(&self, until: Instant) -> Result<Arc<Connection>, NodeError> {
        self.connection.get(until).await.map_err(NodeError::Gone)
    }

    /// Classifies an error of the server, and closes the connection if that is no longer of use. `None` if the
    /// server lacks the script.
    fn classify(&self, connection: &Connection, error: &RedisError) -> Option<NodeError> {
        match classify(error) {
            ErrorClass::NoScript => None,
            ErrorClass::Final(error) => Some(NodeError::Final(error)),
            ErrorClass::Redirected(redirect) => Some(NodeError::Redirected(Box::new(redirect))),
            ErrorClass::SlotMoves(detail) => {
                Some(NodeError::SlotMoves(WireError::unavailable(detail)))
            }
            ErrorClass::NotNow(detail) => Some(NodeError::NotNow(WireError::unavailable(detail))),
            ErrorClass::Reconnect(detail) => {
                self.connection.drop_connection(connection, &detail);
                Some(NodeError::Gone(WireError::unavailable(detail)))
            }
        }
    }

    fn describe(&self, error: SendError) -> NodeError {
        match error {
            SendError::TimedOut => {
                let timeout: Duration = self.connection.command_timeout();
                let text = format!("the server did not answer within {timeout:?}");
                NodeError::Final(WireError::unavailable(text))
            }
            SendError::Unsent => NodeError::Gone(WireError::unavailable("the connection broke")),
            SendError::Broken(error) => {
                NodeError::Gone(WireError::unavailable(error_reply::describe_broken(&error)))
            }
        }
    }

    /// The time by which a command that begins now must be answered.
    pub(super) fn until(&self) -> Instant {
        self.connection.until()
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
    pub(super) async fn ping(&self) -> Result<(), NodeError> {
        let ping = [Argument::Text("PING")];
        self.ask(&ping, self.until()).await.map(|_| ())
    }

    /// Sends a command that changes nothing.
    pub(super) async fn ask(
        &self,
        question: &[Argument<'_>],
        until: Instant,
    ) -> Result<Value, NodeError> {
        let connection = self.connect(until).await?;
        let write = |output: &mut Vec<u8>| command::write(output, question);
        let answer = self.connection.send(&connection, write, until).await;
        let answer = answer.map_err(|error| self.describe(error))?;
        answer.extract_error().map_err(|error| {
            let no_script = || NodeError::Final(WireError::unavailable("NOSCRIPT"));
            self.classify(&connection, &error).unwrap_or_else(no_script)
        })
    }

    /// Whether there is a connection.
    pub(super) fn is_connected(&self) -> bool {
        self.connection.current().is_some()
    }

    /// Closes the connection, if there is one. The next command makes another one.
    pub(super) fn disconnect(&self, reason: &str) {
        if let Some(connection) = self.connection.current() {
            self.connection.drop_connection(&connection, reason);
        }
    }
}

fn script_lost() -> WireError {
    WireError::unavailable("the server forgets its scripts")
}
