//! Sends commands to one server, and retries the commands that it did not carry out.

pub(super) mod queries;
pub(super) mod renew;

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::{RedisError, Value};

use super::CLOCK;
use super::concurrency_limit::ConcurrencyLimit;
use super::connect::Settings;
use super::connection::{Connection, SendError};
use super::encoder::{self, Argument};
use super::error_reply::{self, ErrorClass, classify};
use super::locator::Locator;
use super::reconnect_pause::SHORTEST_PAUSE;
use super::redirect::Redirect;
use super::scripts::Script;
use super::shared_connection::{OnPush, SharedConnection};
use super::shortcut::{self, Shortcut};
use super::trial::{Trial, Ways};
use crate::backend::redis::transport::WriteCommands;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::{ConnectionId, OnStep, SendEvent};
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{NodeId, WireEvents};
use crate::background::timers::Timers;
use crate::control::is_removed;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::record::Grant;

/// One server that keeps locks.
pub(super) struct Node {
    connection: SharedConnection,
    /// Acquires have a limit of their own, so that releases do not wait for them.
    acquiring: ConcurrencyLimit,
    ending: ConcurrencyLimit,
}

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Acquire,
    End,
}

/// The outcome of a renewal.
pub(super) type Renewed = Result<Answered<Option<Grant>>, NodeError>;

pub(super) struct ScriptCall<'a> {
    pub(super) script: &'a Script,
    pub(super) names: &'a OneOrMore<RecordNames>,
    /// The arguments of the script, after its keys.
    pub(super) arguments: &'a [Argument<'a>],
    /// The plain command to try first.
    pub(super) shortcut: Option<Shortcut<'a>>,
    /// What must have worked on the connection before.
    pub(super) trial: Option<Trial>,
}

impl Node {
    pub(super) fn new(
        id: NodeId,
        locator: Locator,
        settings: Settings,
        events: Arc<dyn WireEvents>,
        on_push: OnPush,
    ) -> Node {
        let command_timeout = settings.command_timeout;
        Node {
            connection: SharedConnection::new(id, locator, settings, events, on_push),
            acquiring: ConcurrencyLimit::new(command_timeout),
            ending: ConcurrencyLimit::new(command_timeout),
        }
    }

    /// Runs a script for one owner. `note` is called with each step of the command, and with [`SendEvent::Sending`]
    /// before the command is sent. The returned time is from just before the attempt that was answered.
    pub(super) async fn run(
        &self,
        purpose: Purpose,
        call: &ScriptCall<'_>,
        until: Instant,
        note: OnStep<'_>,
    ) -> Result<Answered<Value>, NodeError> {
        let mut connection = self.connect(until).await?;
        let limit = match purpose {
            Purpose::Acquire => &self.acquiring,
            Purpose::End => &self.ending,
        };
        let _permit = match limit.try_permit() {
            Some(permit) => permit,
            None => {
                // Boxed, like the other pauses here: otherwise every command's future would have room for it.
                let permit = Box::pin(limit.permit(self.connection.timers(), until)).await;
                let permit = permit.map_err(NodeError::Final)?;
                // The connection may have been replaced during the wait.
                connection = self.connect(until).await?;
                permit
            }
        };
        let (mut by_source, mut unsent, mut by_script) = (false, 0, false);
        loop {
            if let Some(trial) = call.trial
                && !connection.trials.have_passed(trial)
                && !connection.trials.are_postponed()
            {
                match Box::pin(self.try_out(&connection, trial, call.names, until)).await {
                    Ok(tried) => tried?,
                    Err(SendError::Unsent) => {
                        connection = Box::pin(self.reconnect(&mut unsent, until)).await?;
                        continue;
                    }
                    Err(error) => return Err(self.describe(error)),
                }
            }
            let shortcut = call.shortcut.filter(|_| !by_script);
            let plain = shortcut.and_then(|shortcut| connection.plain(shortcut));
            let of_this_boot = connection.with_boot(call.arguments);
            let arguments = of_this_boot.as_deref().unwrap_or(call.arguments);
            let write = |output: &mut Vec<u8>| match plain {
                Some(plain) => plain.write(output, &call.names.first().lock),
                None => call.script.write(output, by_source, call.names, arguments),
            };
            note(SendEvent::Sending(connection.id));
            let at = CLOCK.now();
            let value = match self.connection.send(&connection, &write, until).await {
                Ok(value) => value,
                Err(SendError::Unsent) => {
                    note(SendEvent::Unsent(connection.id));
                    connection = Box::pin(self.reconnect(&mut unsent, until)).await?;
                    continue;
                }
                Err(error) => return Err(self.describe(error)),
            };
            let at = if is_removed!(lease_from_before_the_acquire) {
                CLOCK.now()
            } else {
                at
            };
            let answer = value.extract_error();
            note(answer_event(connection.id, &answer));
            match answer {
                Ok(answer) => match plain {
                    None => return Ok(Answered { at, answer }),
                    Some(plain) => match plain.answer(answer) {
                        Some(answer) => return Ok(Answered { at, answer }),
                        None => by_script = true,
                    },
                },
                Err(error) => match (self.classify(&connection, &error), plain) {
                    // The caller gets the answer to the script, even if that is refused, too.
                    (Some(NodeError::Final(WireError::Refused(_))), Some(plain)) => {
                        by_script = true;
                        if plain.is_deletion() && shortcut::is_unusable(&error) {
                            connection.note_refused_deletion();
                        }
                    }
                    (None, _) if !by_source => by_source = true,
                    (None, _) => return Err(NodeError::Final(script_lost())),
                    (Some(refusal @ NodeError::Final(WireError::Refused(_))), None) => {
                        if !error_reply::leaves_rights_as_they_are(&error) {
                            connection.trials.forget();
                        }
                        return Err(refusal);
                    }
                    (Some(error), _) => return Err(error),
                },
            }
        }
    }

    /// Tries out whether the scripts work on the connection. Fails if they do not; what a moving slot, a full server or
    /// an answer that is not known leaves open stays untried.
    async fn try_out(
        &self,
        connection: &Connection,
        trial: Trial,
        names: &OneOrMore<RecordNames>,
        until: Instant,
    ) -> Result<Result<(), NodeError>, SendError> {
        let alone = connection.trials.alone();
        let alone = self.connection.timers().timeout_at(until, alone).await;
        let _alone = alone.map_err(|_| SendError::TimedOut)?;
        if connection.trials.have_passed(trial) {
            return Ok(Ok(()));
        }
        let mut ways = connection.trials.ways(trial);
        loop {
            let write = |output: &mut Vec<u8>| trial.write(ways, output, names);
            let count = ways.by_source().len();
            let sent = self.connection.send_all(connection, count, &write, until);
            // Whether all answers are the script's own, and whether all of them say that it could try its commands out.
            let (mut have_run, mut have_worked, mut is_lost) = (true, true, false);
            for (&by_source, answer) in ways.by_source().iter().zip(sent.await?) {
                let error = match answer.extract_error() {
                    Ok(Value::Int(1)) => continue,
                    Ok(Value::Int(0)) => {
                        have_worked = false;
                        continue;
                    }
                    Ok(_) => {
                        connection.trials.postpone();
                        (have_run, have_worked) = (false, false);
                        continue;
                    }
                    Err(error) => error,
                };
                have_run = false;
                match self.classify(connection, &error) {
                    // A proxy without a cache of scripts gets each one with its source.
                    None if !by_source && ways == Ways::Both => {}
                    None => (have_worked, is_lost) = (false, !by_source),
                    // The command may be one that needs no room.
                    Some(_) if error_reply::is_of_a_full_server(&error) => have_worked = false,
                    Some(
                        refusal @ (NodeError::Final(WireError::Refused(_)) | NodeError::Gone(_)),
                    ) => {
                        return Ok(Err(refusal));
                    }
                    // A redirection is left to the command, which names a record that may be here.
                    Some(_) => have_worked = false,
                }
            }
            if is_lost {
                ways = Ways::Both;
                continue;
            }
            if have_run {
                connection.trials.note_run(trial);
            }
            if have_worked {
                connection.trials.note_passed(trial);
            }
            return Ok(Ok(()));
        }
    }

    /// Like [`run`](Node::run), on a node that does not own the lock's slot yet. ASKING is sent together with the
    /// script: otherwise another command in between would use it up. The script is sent with its source, since a node
    /// that imports a slot may lack it.
    pub(super) async fn run_asking(
        &self,
        call: &ScriptCall<'_>,
        until: Instant,
        note: OnStep<'_>,
    ) -> Result<Answered<Value>, NodeError> {
        let write = |output: &mut Vec<u8>| {
            encoder::write(output, &[Argument::Text("ASKING")]);
            call.script.write(output, true, call.names, call.arguments);
        };
        let mut connection = self.connect(until).await?;
        let mut unsent = 0;
        loop {
            note(SendEvent::Sending(connection.id));
            let at = CLOCK.now();
            let sent = self.connection.send_all(&connection, 2, &write, until);
            let mut answers = match sent.await {
                Ok(answers) => answers,
                Err(SendError::Unsent) => {
                    note(SendEvent::Unsent(connection.id));
                    connection = Box::pin(self.reconnect(&mut unsent, until)).await?;
                    continue;
                }
                Err(error) => return Err(self.describe(error)),
            };
            let answer = answers.pop().unwrap_or(Value::Nil);
            // If ASKING was refused, the script is only redirected, so the refusal is the answer.
            let permission = answers.pop().unwrap_or(Value::Nil);
            let answer = permission
                .extract_error()
                .and_then(|_| answer.extract_error());
            note(answer_event(connection.id, &answer));
            return match answer {
                Ok(answer) => Ok(Answered { at, answer }),
                Err(error) => {
                    let lost = || NodeError::Final(script_lost());
                    Err(self.classify(&connection, &error).unwrap_or_else(lost))
                }
            };
        }
    }

    /// Reconnects to resend a command, none of whose bytes were written. Pauses from the second time on.
    async fn reconnect(
        &self,
        unsent: &mut u32,
        until: Instant,
    ) -> Result<Arc<Connection>, NodeError> {
        *unsent += 1;
        if *unsent > 1 {
            // This server accepts connections and closes them at once.
            let pause = Instant::now() + SHORTEST_PAUSE;
            self.connection.timers().sleep_until(pause).await;
        }
        self.connect(until).await
    }

    /// Returns the connection, and makes one if there is none.
    pub(super) async fn connect(&self, until: Instant) -> Result<Arc<Connection>, NodeError> {
        if let Some(connection) = self.connection.current() {
            return Ok(connection);
        }
        let connection = Box::pin(self.connection.get(until)).await;
        connection.map_err(|error| match error {
            WireError::Refused(_) => NodeError::Final(error),
            WireError::Unavailable(_) => NodeError::Gone(error),
        })
    }

    /// Classifies an error of the server, and closes the connection if it is of no further use. Returns `None` if the
    /// server lacks the script.
    fn classify(&self, connection: &Connection, error: &RedisError) -> Option<NodeError> {
        match classify(error) {
            ErrorClass::NoScript => None,
            ErrorClass::Final(error) => Some(NodeError::Final(error)),
            ErrorClass::Redirected(redirect) => {
                Some(NodeError::Redirected(Box::new(redirect), connection.id))
            }
            ErrorClass::SlotMoves(detail) => {
                Some(NodeError::SlotMoves(WireError::unavailable(detail)))
            }
            ErrorClass::NotNow(detail) => Some(NodeError::NotNow(WireError::unavailable(detail))),
            ErrorClass::Reconnect(detail) => {
                self.connection.reject(connection, &detail);
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

    /// Returns the deadline of a command that begins now.
    pub(super) fn until(&self) -> Instant {
        self.connection.until()
    }

    /// Checks that the server answers.
    pub(super) async fn ping(&self, until: Instant) -> Result<(), NodeError> {
        let ping = [Argument::Text("PING")];
        self.ask(&ping, until).await.map(|_| ())
    }

    /// Sends a command that changes nothing.
    pub(super) async fn ask(
        &self,
        question: &[Argument<'_>],
        until: Instant,
    ) -> Result<Value, NodeError> {
        let connection = self.connect(until).await?;
        let write = |output: &mut Vec<u8>| encoder::write(output, question);
        self.send_on(&connection, &write, until).await
    }

    /// Sends the command that `write` appends, which is not a script, and waits for its answer.
    pub(super) async fn send_on(
        &self,
        connection: &Connection,
        write: WriteCommands<'_>,
        until: Instant,
    ) -> Result<Value, NodeError> {
        let answer = self.connection.send(connection, write, until).await;
        let answer = answer.map_err(|error| self.describe(error))?;
        answer.extract_error().map_err(|error| {
            let no_script = || NodeError::Final(WireError::unavailable("NOSCRIPT"));
            self.classify(connection, &error).unwrap_or_else(no_script)
        })
    }

    /// Returns timers for futures that are polled anywhere.
    pub(super) fn timers(&self) -> &Timers {
        self.connection.timers()
    }

    /// Runs a task in the background. Returns `false` in a forked child.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> bool {
        self.connection.spawn(task)
    }

    pub(super) fn connected(&self) -> Option<Arc<Connection>> {
        self.connection.current()
    }

    /// Returns why there is no connection, if the next attempt is delayed. A query about the node need not wait for it.
    pub(super) fn put_off(&self) -> Option<WireError> {
        self.connection.put_off()
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connected().is_some()
    }

    /// Closes the connection for good, even if it is still being made.
    pub(super) fn close(&self, reason: &str) {
        self.connection.close(reason);
    }

    /// Closes a connection that leads to the wrong server, unless it is already gone.
    pub(super) fn reject(&self, on: ConnectionId, reason: &str) {
        if let Some(connection) = self.connected().filter(|it| it.id == on) {
            self.connection.reject(&connection, reason);
        }
    }

    /// Closes the connection, if there is one. The next command makes another one.
    pub(super) fn disconnect(&self, reason: &str) {
        if let Some(connection) = self.connected() {
            self.connection.drop_connection(&connection, reason);
        }
    }
}

fn answer_event(on: ConnectionId, answer: &Result<Value, RedisError>) -> SendEvent {
    match answer {
        Ok(_) => SendEvent::Answered(on),
        Err(_) => SendEvent::Refused(on),
    }
}

fn script_lost() -> WireError {
    WireError::unavailable("the server forgets its scripts")
}

/// The reason that a node has not carried out a command, as far as is known.
#[derive(Clone, Debug)]
pub(super) enum NodeError {
    /// Another node has the lock, according to the server on this connection. Nothing was carried out.
    Redirected(Box<Redirect>, ConnectionId),
    /// The records of the lock are on two nodes while its slot moves. Nothing was carried out.
    SlotMoves(WireError),
    /// The node cannot carry the command out right now. Nothing was carried out.
    NotNow(WireError),
    /// There is no connection, or it broke, or the server has become a replica.
    Gone(WireError),
    Final(WireError),
}

impl NodeError {
    /// Returns the error for the caller of a server that should have all locks.
    pub(super) fn into_wire(self) -> WireError {
        match self {
            NodeError::Redirected(..) => WireError::refused(error_reply::OF_A_CLUSTER),
            NodeError::SlotMoves(error)
            | NodeError::NotNow(error)
            | NodeError::Gone(error)
            | NodeError::Final(error) => error,
        }
    }
}
