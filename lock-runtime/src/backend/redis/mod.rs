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
pub(crate) use link::{OnConnect, OnSignal, Signal};
pub(crate) use url::Target;

use self::command::{Word, write};
use self::concurrency_limit::Window;
use self::deletion::Deletion;
use self::error_reply::{Verdict, judge};
use self::link::{Connection, Link, Silence};
use self::losses::SHORTEST;
use self::scripts::{ACQUIRE, END, Lua, RELEASE, RENEW, millis};
use crate::backend::wire::outstanding::Chain;
use crate::backend::wire::{Acquired, Ended, Fault, Heir, Renewal, Sent, Ticket, Wire};
use crate::background::Keeper;
use crate::background::clock::Clock;
use crate::control::is_removed;
use crate::key::RecordNames;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;

/// The clock that leases on a server are measured by.
pub(crate) const CLOCK: Clock = Clock::Boot;

/// Every client listens on this and its names, whatever the prefix of its keys: the scripts
/// know it, and a rule for channels in an ACL need not follow the prefix.
const CHANNEL: &str = "lock:";

/// A server that keeps locks.
pub(crate) struct Server {
    link: Link,
    /// Two windows, so that giving back does not wait for those who ask.
    acquiring: Window,
    ending: Window,
}

impl Server {
    pub(crate) fn new(
        target: Target,
        keeper: Keeper,
        background_only: bool,
        command_timeout: Duration,
        names: OnConnect,
        on_signal: OnSignal,
    ) -> Server {
        Server {
            link: Link::new(
                target,
                keeper,
                background_only,
                command_timeout,
                names,
                on_signal,
            ),
            acquiring: Window::new(command_timeout),
            ending: Window::new(command_timeout),
        }
    }

    /// Runs a script for one owner. `note` is told of every connection it is about to be sent on, and
    /// `Sent` carries the time before the sending that was answered.
    async fn run(
        &self,
        window: &Window,
        call: &Call<'_>,
        mut note: impl FnMut(Step<'_>),
    ) -> Result<Sent<Value>, Fault> {
        let until = self.link.until();
        let mut connection = self.link.connection(until).await?;
        let _place = match window.try_enter() {
            Some(place) => place,
            None => {
                let place = window.enter(self.link.alarms(), until).await?;
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
                Some(((ticket, token), deletion)) => {
                    deletion.write(output, call.words[0], ticket, token);
                }
                None => call.script.write(output, whole, call.words),
            };
            note(Step::Sending(&connection));
            let mut at = CLOCK.now();
            let value = match self.link.send(&connection, write, until).await {
                Ok(value) if is_script => value,
                Ok(value) => Deletion::answer(value),
                Err(Silence::Unsent) => {
                    note(Step::Unsent(&connection));
                    connection = self.reconnection(&mut unsent, until).await?;
                    continue;
                }
                Err(silence) => return Err(self.unanswered(silence)),
            };
            note(Step::Answered(&connection));
            if is_removed!("lease_from_before_the_acquire") {
                at = CLOCK.now();
            }
            match value.extract_error() {
                Ok(answer) => return Ok(Sent { at, answer }),
                Err(error) => match self.judge(&connection, &error) {
                    // If the script is refused as well, that is what the caller is told.
                    Some(Fault::Refused(_)) if !is_script => {
                        by_script = true;
                        if deletion::is_missing(&error) {
                            connection.refused_deletion();
                        }
                    }
                    None if !whole => whole = true,
                    None => {
                        return Err(Fault::unavailable("the server forgets its scripts"));
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
    ) -> Result<Arc<Connection>, Fault> {
        *unsent += 1;
        if *unsent > 1 {
            // Somebody lets us in and throws us out again.
            let pause = Instant::now() + SHORTEST;
            self.link.alarms().sleep_until(pause).await;
        }
        self.link.connection(until).await
    }

    /// What an error of the server means; `None` if it lacks the script.
    fn judge(&self, connection: &Connection, error: &redis::RedisError) -> Option<Fault> {
        match judge(error) {
            Verdict::NoScript => None,
            Verdict::Fault(fault) => Some(fault),
            Verdict::Reconnect(detail) => {
                self.link.drop_connection(connection, &detail);
                Some(Fault::unavailable(detail))
            }
        }
    }

    fn unanswered(&self, silence: Silence) -> Fault {
        match silence {
            Silence::TimedOut => self.link.slow(),
            Silence::Unsent => Fault::unavailable("the connection broke"),
            Silence::Broken(error) => Fault::unavailable(error_reply::describe_broken(&error)),
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
        let (mut at, sent) = loop {
            let at = CLOCK.now();
            match self.link.send_all(connection, count, write, until).await {
                Err(Silence::Unsent) => match self.reconnection(&mut unsent, until).await {
                    Ok(another) => *connection = another,
                    Err(fault) => break (at, Err(fault)),
                },
                sent => break (at, sent.map_err(|silence| self.unanswered(silence))),
            }
        };
        if is_removed!("lease_from_before_the_renewal") {
            at = CLOCK.now();
        }
        let fault = match sent {
            Ok(answers) if answers.len() == renewals.len() => {
                let read = |answer: Value| match answer.extract_error() {
                    Ok(value) => Some(scripts::renewed(&value).map(|answer| Sent { at, answer })),
                    Err(error) => self.judge(connection, &error).map(Err),
                };
                return answers.into_iter().map(read).collect();
            }
            Ok(_) => Fault::unavailable("some answers are missing"),
            Err(fault) => fault,
        };
        renewals.iter().map(|_| Some(Err(fault.clone()))).collect()
    }
}

/// What came of a renewal.
type Renewed = Result<Sent<Option<Grant>>, Fault>;

/// What happens to a command on its way.
enum Step<'a> {
    Sending(&'a Connection),
    /// It was not sent after all, and will be sent on another one.
    Unsent(&'a Connection),
    Answered(&'a Connection),
}

/// A call of a script.
struct Call<'a> {
    script: &'a Lua,
    /// Its keys and arguments. The lock is the first.
    words: &'a [Word<'a>],
    /// The holder's entry and token, for a release: a server that compares and deletes needs no script.
    holder: Option<(&'a Ticket, FencingToken)>,
}

impl<'a> Call<'a> {
    fn new(script: &'a Lua, words: &'a [Word<'a>]) -> Call<'a> {
        Call {
            script,
            words,
            holder: None,
        }
    }
}

impl Renewal {
    fn words(&self) -> [Word<'_>; 3] {
        [
            Word::Text(&self.lock),
            Word::Text(self.owner.as_str()),
            Word::Number(millis(self.extension.ttl)),
        ]
    }
}

/// The keys of the scripts that need all records of a lock.
fn keys(names: &RecordNames) -> [Word<'_>; 3] {
    [
        Word::Text(&names.lock),
        Word::Name(names.fence()),
        Word::Name(names.queue()),
    ]
}

impl Wire for Server {
    async fn acquire(
        &self,
        chain: &mut Chain,
        ticket: &Ticket,
        names: &RecordNames,
        ttl: Duration,
        queue: bool,
    ) -> Result<Sent<Acquired>, Fault> {
        let signed = if queue { millis(ttl) } else { -millis(ttl) };
        let [lock, fence, line] = keys(names);
        let words = [lock, fence, line, Word::Entry(ticket), Word::Number(signed)];
        let call = Call::new(&ACQUIRE, &words);
        let note = |step: Step<'_>| match step {
            Step::Sending(on) => chain.sending(on.incarnation, ttl, queue),
            Step::Unsent(on) => chain.unsent(on.incarnation),
            Step::Answered(on) => chain.answered(on.incarnation),
        };
        let sent = self.run(&self.acquiring, &call, note).await?;
        let answer = scripts::acquired(sent.answer)?;
        Ok(Sent {
            at: sent.at,
            answer,
        })
    }

    async fn renew(&self, renewals: &[Renewal]) -> Vec<Result<Sent<Option<Grant>>, Fault>> {
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
        let forgotten = || Err(Fault::unavailable("the server forgets its scripts"));
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(forgotten))
            .collect()
    }

    async fn release(
        &self,
        chain: &mut Chain,
        ticket: &Ticket,
        names: &RecordNames,
        token: FencingToken,
    ) -> Result<Ended, Fault> {
        let call = Call {
            script: &RELEASE,
            words: &[Word::Text(&names.lock), Word::Text(ticket.owner.as_str())],
            holder: Some((ticket, token)),
        };
        let note = |step: Step<'_>| match step {
            Step::Sending(on) => chain.ending(on.incarnation),
            Step::Unsent(_) | Step::Answered(_) => chain.ending_is_known(),
        };
        let sent = self.run(&self.ending, &call, note).await?;
        scripts::released(&sent.answer)
    }

    async fn end(
        &self,
        chain: &mut Chain,
        ticket: &Ticket,
        names: &RecordNames,
        mut heir: Option<Heir<'_>>,
    ) -> Result<Sent<Ended>, Fault> {
        let [lock, fence, line] = keys(names);
        let mut words = [lock, fence, line, Word::Entry(ticket), lock, lock];
        let words = match &heir {
            Some(heir) => {
                (words[4], words[5]) = (Word::Entry(heir.ticket), Word::Number(millis(heir.ttl)));
                &words[..]
            }
            None => &words[..4],
        };
        let call = Call::new(&END, words);
        let note = |step: Step<'_>| match step {
            Step::Sending(on) => {
                chain.ending(on.incarnation);
                if let Some(heir) = &mut heir {
                    heir.chain.sending(on.incarnation, heir.ttl, true);
                }
            }
            Step::Unsent(on) => {
                chain.ending_is_known();
                if let Some(heir) = &mut heir {
                    heir.chain.unsent(on.incarnation);
                }
            }
            Step::Answered(on) => {
                chain.ending_is_known();
                if let Some(heir) = &mut heir {
                    heir.chain.answered(on.incarnation);
                }
            }
        };
        let sent = self.run(&self.ending, &call, note).await?;
        let answer = scripts::ended(&sent.answer)?;
        Ok(Sent {
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

    async fn ping(&self) -> Result<(), Fault> {
        let until = self.link.until();
        let connection = self.link.connection(until).await?;
        let answer = self
            .link
            .send(
                &connection,
                |output| write(output, &[Word::Text("PING")]),
                until,
            )
            .await;
        let answer = answer.map_err(|silence| self.unanswered(silence))?;
        match answer.extract_error() {
            Ok(_) => Ok(()),
            Err(error) => Err(self
                .judge(&connection, &error)
                .unwrap_or_else(|| Fault::unavailable("NOSCRIPT"))),
        }
    }
}
