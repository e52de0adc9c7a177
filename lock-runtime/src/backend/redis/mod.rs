//! One Redis or Valkey server. Nothing outside this folder knows the client library.

mod addresses;
mod blocking;
mod codec;
mod command;
mod concurrency_limit;
mod deletion;
mod error_reply;
mod eviction_check;
mod hello;
mod link;
mod losses;
mod once_per_server;
mod pipe;
mod reader;
mod scripts;
mod slots;
mod socket;
mod tls;
mod transport;
mod url;

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;

pub(crate) use blocking::block_on;
pub(crate) use link::{OnConnect, OnPush, PushEvent};
pub(crate) use url::Target;

use self::command::{Argument, write};
use self::concurrency_limit::ConcurrencyLimit;
use self::deletion::Deletion;
use self::error_reply::{ErrorClass, classify};
use self::link::{Connection, SendError, SharedConnection};
use self::losses::SHORTEST;
use self::scripts::{ACQUIRE, END, RELEASE, RENEW, Script, millis};
use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::{
    AcquireReply, Answered, EndReply, QueueEntry, Renewal, Successor, Wire, WireError,
};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::key::{Record, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;

/// The clock that leases on a server are measured by.
pub(crate) const CLOCK: Clock = Clock::Boot;

/// Every client listens on this and its names, whatever the prefix of its keys: the scripts
/// know it, and a rule for channels in an ACL need not follow the prefix.
const CHANNEL: &str = "lock:";

/// A server that keeps locks.
pub(crate) struct Node {
    link: SharedConnection,
    /// Two windows, so that giving back does not wait for those who ask.
    acquiring: ConcurrencyLimit,
    ending: ConcurrencyLimit,
}

impl Node {
    pub(crate) fn new(
        target: Target,
        background: Background,
        background_only: bool,
        command_timeout: Duration,
        names: OnConnect,
        on_push: OnPush,
    ) -> Node {
        Node {
            link: SharedConnection::new(
                target,
                background,
                background_only,
                command_timeout,
                names,
                on_push,
            ),
            acquiring: ConcurrencyLimit::new(command_timeout),
            ending: ConcurrencyLimit::new(command_timeout),
        }
    }

    /// Runs a script for one owner. `note` is told of every connection it is about to be sent on, and
    /// `Answered` carries the time before the sending that was answered.
    async fn run(
        &self,
        window: &ConcurrencyLimit,
        call: &Call<'_>,
        mut note: impl FnMut(SendEvent<'_>),
    ) -> Result<Answered<Value>, WireError> {
        let until = self.link.until();
        let mut connection = self.link.connection(until).await?;
        let _place = match window.try_enter() {
            Some(place) => place,
            None => {
                let place = window.enter(self.link.timers(), until).await?;
                // It may be another one by now.
                connection = self.link.connection(until).await?;
                place
            }
        };
        let (mut whole, mut unsent, mut by_script) = (false, 0, false);
        loop {
            let holder = call.holder.filter(|_| !by_script);
            let deletion = holder.zip(connection.deletion());
            let is_script = deletion.is_none();
            let write = |output: &mut Vec<u8>| match deletion {
                Some(((entry, token), deletion)) => {
                    deletion.write(output, call.words[0], entry, token);
                }
                None => call.script.write(output, whole, call.words),
            };
            note(SendEvent::Sending(&connection));
            let at = CLOCK.now();
            let value = match self.link.send(&connection, write, until).await {
                Ok(value) if is_script => value,
                Ok(value) => Deletion::answer(value),
                Err(SendError::Unsent) => {
                    note(SendEvent::Unsent(&connection));
                    connection = self.reconnection(&mut unsent, until).await?;
                    continue;
                }
                Err(silence) => return Err(self.unanswered(silence)),
            };
            note(SendEvent::Answered(&connection));
            match value.extract_error() {
                Ok(answer) => return Ok(Answered { at, answer }),
                Err(error) => match self.classify(&connection, &error) {
                    // If the script is refused as well, that is what the caller is told.
                    Some(WireError::Refused(_)) if !is_script => {
                        by_script = true;
                        if deletion::is_missing(&error) {
                            connection.refused_deletion();
                        }
                    }
                    None if !whole => whole = true,
                    None => {
                        return Err(WireError::unavailable("the server forgets its scripts"));
                    }
                    Some(fault) => return Err(fault),
                },
            }
        }
    }

    /// Another connection for what was not sent on the last one, for the how manieth time.
    async fn reconnection(
        &self,
        unsent: &mut u32,
        until: Instant,
    ) -> Result<Arc<Connection>, WireError> {
        *unsent += 1;
        if *unsent > 1 {
            // Somebody lets us in and throws us out again.
            let pause = Instant::now() + SHORTEST;
            self.link.timers().sleep_until(pause).await;
        }
        self.link.connection(until).await
    }

    /// What an error of the server means; `None` if it lacks the script.
    fn classify(&self, connection: &Connection, error: &redis::RedisError) -> Option<WireError> {
        match classify(error) {
            ErrorClass::NoScript => None,
            ErrorClass::WireError(fault) => Some(fault),
            ErrorClass::Reconnect(detail) => {
                self.link.drop_connection(connection, &detail);
                Some(WireError::unavailable(detail))
            }
        }
    }

    fn unanswered(&self, silence: SendError) -> WireError {
        match silence {
            SendError::TimedOut => self.link.slow(),
            SendError::Unsent => WireError::unavailable("the connection broke"),
            SendError::ConnectionLost(error) => {
                WireError::unavailable(error_reply::describe_broken(&error))
            }
        }
    }

    /// Sends renewals in one pipeline; with `whole`, the first of them carries the script itself.
    /// The results are in order, `None` where the server lacks the script.
    async fn renew_all(
        &self,
        connection: &mut Arc<Connection>,
        renewals: &[&Renewal],
        whole: bool,
        until: Instant,
    ) -> Vec<Option<Renewed>> {
        let write = |output: &mut Vec<u8>| {
            for (index, renewal) in renewals.iter().enumerate() {
                RENEW.write(output, whole && index == 0, &renewal.words());
            }
        };
        let count = renewals.len();
        let mut unsent = 0;
        let (at, sent) = loop {
            let at = CLOCK.now();
            match self.link.send_all(connection, count, write, until).await {
                Err(SendError::Unsent) => match self.reconnection(&mut unsent, until).await {
                    Ok(another) => *connection = another,
                    Err(fault) => break (at, Err(fault)),
                },
                sent => break (at, sent.map_err(|silence| self.unanswered(silence))),
            }
        };
        let fault = match sent {
            Ok(answers) if answers.len() == renewals.len() => {
                let read = |answer: Value| match answer.extract_error() {
                    Ok(value) => {
                        Some(scripts::renewed(&value).map(|answer| Answered { at, answer }))
                    }
                    Err(error) => self.classify(connection, &error).map(Err),
                };
                return answers.into_iter().map(read).collect();
            }
            Ok(_) => WireError::unavailable("some answers are missing"),
            Err(fault) => fault,
        };
        renewals.iter().map(|_| Some(Err(fault.clone()))).collect()
    }
}

/// What came of a renewal.
type Renewed = Result<Answered<Option<Grant>>, WireError>;

/// What happens to a command on its way.
enum SendEvent<'a> {
    Sending(&'a Connection),
    /// It was not sent after all, and will be sent on another one.
    Unsent(&'a Connection),
    Answered(&'a Connection),
}

/// A call of a script.
struct Call<'a> {
    script: &'a Script,
    /// Its keys and arguments. The lock is the first.
    words: &'a [Argument<'a>],
    /// The holder's entry and token, for a release: a server that compares and deletes needs no script.
    holder: Option<(&'a QueueEntry, FencingToken)>,
}

impl<'a> Call<'a> {
    fn new(script: &'a Script, words: &'a [Argument<'a>]) -> Call<'a> {
        Call {
            script,
            words,
            holder: None,
        }
    }
}

impl Renewal {
    fn words(&self) -> [Argument<'_>; 3] {
        [
            Argument::Text(&self.lock),
            Argument::Text(self.owner_id.as_str()),
            Argument::Number(millis(self.extension.ttl)),
        ]
    }
}

/// The keys of the scripts that need all records of a lock.
fn keys(names: &RecordNames) -> [Argument<'_>; 3] {
    [Record::Lock, Record::Fence, Record::Queue].map(|record| Argument::Name(names.of(record)))
}

impl Wire for Node {
    async fn acquire(
        &self,
        outstanding: &mut Outstanding,
        entry: &QueueEntry,
        names: &RecordNames,
        ttl: Duration,
        queue: bool,
    ) -> Result<Answered<AcquireReply>, WireError> {
        let signed = if queue { millis(ttl) } else { -millis(ttl) };
        let [lock, fence, line] = keys(names);
        let words = [
            lock,
            fence,
            line,
            Argument::Entry(entry),
            Argument::Number(signed),
        ];
        let call = Call::new(&ACQUIRE, &words);
        let note = |step: SendEvent<'_>| match step {
            SendEvent::Sending(on) => outstanding.sending(on.connection_id, ttl, queue),
            SendEvent::Unsent(on) => outstanding.unsent(on.connection_id),
            SendEvent::Answered(on) => outstanding.answered(on.connection_id),
        };
        let sent = self.run(&self.acquiring, &call, note).await?;
        let answer = scripts::acquired(sent.answer)?;
        Ok(Answered {
            at: sent.at,
            answer,
        })
    }

    async fn renew(&self, renewals: &[Renewal]) -> Vec<Result<Answered<Option<Grant>>, WireError>> {
        let until = self.link.until();
        let mut connection = match self.link.connection(until).await {
            Ok(connection) => connection,
            Err(fault) => return renewals.iter().map(|_| Err(fault.clone())).collect(),
        };
        let all: Vec<&Renewal> = renewals.iter().collect();
        let mut results = self.renew_all(&mut connection, &all, false, until).await;
        let unknown = |result: &Option<Renewed>| result.is_none();
        let again: Vec<&Renewal> = all
            .iter()
            .zip(&results)
            .filter(|(_, result)| unknown(result))
            .map(|(&renewal, _)| renewal)
            .collect();
        if !again.is_empty() {
            let repeated = self.renew_all(&mut connection, &again, true, until).await;
            results
                .iter_mut()
                .filter(|result| unknown(result))
                .zip(repeated)
                .for_each(|(result, repeated)| *result = repeated);
        }
        let forgotten = || Err(WireError::unavailable("the server forgets its scripts"));
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(forgotten))
            .collect()
    }

    async fn release(
        &self,
        outstanding: &mut Outstanding,
        entry: &QueueEntry,
        names: &RecordNames,
        token: FencingToken,
    ) -> Result<EndReply, WireError> {
        let call = Call {
            script: &RELEASE,
            words: &[
                Argument::Text(&names.lock),
                Argument::Text(entry.owner_id.as_str()),
            ],
            holder: Some((entry, token)),
        };
        let note = |step: SendEvent<'_>| match step {
            SendEvent::Sending(on) => outstanding.ending(on.connection_id),
            SendEvent::Unsent(_) | SendEvent::Answered(_) => outstanding.ending_is_known(),
        };
        let sent = self.run(&self.ending, &call, note).await?;
        scripts::released(&sent.answer)
    }

    async fn end(
        &self,
        outstanding: &mut Outstanding,
        entry: &QueueEntry,
        names: &RecordNames,
        mut successor: Option<Successor<'_>>,
    ) -> Result<Answered<EndReply>, WireError> {
        let [lock, fence, line] = keys(names);
        let mut words = [lock, fence, line, Argument::Entry(entry), lock, lock];
        let words = match &successor {
            Some(successor) => {
                (words[4], words[5]) = (
                    Argument::Entry(successor.entry),
                    Argument::Number(millis(successor.ttl)),
                );
                &words[..]
            }
            None => &words[..4],
        };
        let call = Call::new(&END, words);
        let note = |step: SendEvent<'_>| match step {
            SendEvent::Sending(on) => {
                outstanding.ending(on.connection_id);
                if let Some(successor) = &mut successor {
                    successor
                        .outstanding
                        .sending(on.connection_id, successor.ttl, true);
                }
            }
            SendEvent::Unsent(on) => {
                outstanding.ending_is_known();
                if let Some(successor) = &mut successor {
                    successor.outstanding.unsent(on.connection_id);
                }
            }
            SendEvent::Answered(on) => {
                outstanding.ending_is_known();
                if let Some(successor) = &mut successor {
                    successor.outstanding.answered(on.connection_id);
                }
            }
        };
        let sent = self.run(&self.ending, &call, note).await?;
        let answer = scripts::ended(&sent.answer)?;
        Ok(Answered {
            at: sent.at,
            answer,
        })
    }

    fn hear(&self) {
        self.link.hear();
    }

    fn listen(&self) {
        self.link.listen();
    }

    async fn ping(&self) -> Result<(), WireError> {
        let until = self.link.until();
        let connection = self.link.connection(until).await?;
        let answer = self
            .link
            .send(
                &connection,
                |output| write(output, &[Argument::Text("PING")]),
                until,
            )
            .await;
        let answer = answer.map_err(|silence| self.unanswered(silence))?;
        match answer.extract_error() {
            Ok(_) => Ok(()),
            Err(error) => Err(self
                .classify(&connection, &error)
                .unwrap_or_else(|| WireError::unavailable("NOSCRIPT"))),
        }
    }
}
