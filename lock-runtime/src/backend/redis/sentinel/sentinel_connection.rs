//! A connection to one sentinel.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use redis::{RedisError, Value};

use super::primary::{Named, Primary, parse_epoch};
use super::sentinels::Sentinels;
use crate::backend::redis::address::Address;
use crate::backend::redis::encoder::{self, Argument};
use crate::backend::redis::error_reply::{self, describe_broken, describe_login, describe_setup};
use crate::backend::redis::hello::{self, ServerMode};
use crate::backend::redis::login::CurrentLogin;
use crate::backend::redis::open_socket;
use crate::backend::redis::transport::{
    ConnectionLost, OnTransportEvent, Transport, unless_forked,
};
use crate::backend::wire::error::WireError;
use crate::background::Background;

/// A connection to one sentinel, which only the background uses. Its callers limit the time.
pub(super) struct SentinelConnection {
    sentinels: Arc<Sentinels>,
    number: usize,
    transport: Arc<Transport>,
}

impl SentinelConnection {
    /// Connects to a sentinel and logs in.
    pub(super) async fn open(
        sentinels: Arc<Sentinels>,
        number: usize,
        background: &Background,
        timeout: Duration,
        on_event: OnTransportEvent,
    ) -> Result<SentinelConnection, WireError> {
        let address = &sentinels.addresses[number];
        let (socket, session) =
            open_socket::open(address, timeout, &AtomicBool::new(false)).await?;
        let transport = Transport::start(socket, session, background.clone(), true, on_event);
        let transport =
            transport.ok_or_else(|| WireError::unavailable("this process was forked"))?;
        let connection = SentinelConnection {
            sentinels: sentinels.clone(),
            number,
            transport,
        };
        let greeting = connection
            .transport
            .send(&|output| hello::write(output, &CurrentLogin::of_url(&sentinels.login)));
        let greeting = unless_forked(greeting.await).map_err(|lost| connection.broken(&lost))?;
        let greeting = connection.accepted(greeting)?;
        hello::check(address, ServerMode::Sentinel, &greeting)?;
        Ok(connection)
    }

    /// Subscribes to the sentinel's reports of failovers.
    pub(super) async fn subscribe(&self) -> Result<(), WireError> {
        // A user who may not subscribe still learns of failovers by asking.
        self.ask(&[&["SUBSCRIBE", "+switch-master"]]).await?;
        self.transport.keep_reading_messages();
        Ok(())
    }

    /// Returns the address of the primary; `None` if the sentinel does not know the name.
    pub(super) async fn primary(&self) -> Result<Option<Primary>, WireError> {
        let answers = self.ask(&[&self.question()]).await?;
        let [answer] = self.checked(answers)?;
        Ok(Primary::parse(&answer))
    }

    /// Returns the primary, and the epoch of its election.
    ///
    /// `SENTINEL MASTER` has the epoch, but for seconds at the end of a failover it still has the old primary's
    /// address. So the address comes from another command.
    pub(super) async fn named(&self) -> Result<Named, WireError> {
        let name = &self.sentinels.name;
        let questions = [&["SENTINEL", "MASTER", name][..], &self.question()];
        let answers = self.ask(&questions).await?;
        if matches!(answers[..], [_, Value::Nil]) {
            return Err(WireError::refused(format!(
                "the sentinel {} knows no primary `{name}`",
                self.address()
            )));
        }
        let [state, primary] = self.checked(answers)?;
        match (parse_epoch(state), Primary::parse(&primary)) {
            (Some(epoch), Some(primary)) => Ok(Named {
                primary,
                epoch,
                by: self.number,
            }),
            _ => Err(WireError::unavailable(format!(
                "the sentinel {} answered with something else",
                self.address()
            ))),
        }
    }

    fn question(&self) -> [&str; 3] {
        ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", &self.sentinels.name]
    }

    fn address(&self) -> &Address {
        &self.sentinels.addresses[self.number]
    }

    async fn ask(&self, commands: &[&[&str]]) -> Result<Vec<Value>, WireError> {
        let answers = self.transport.send_all(commands.len(), &|output| {
            for words in commands {
                let words: Vec<_> = words.iter().copied().map(Argument::Text).collect();
                encoder::write(output, &words);
            }
        });
        unless_forked(answers.await).map_err(|lost| self.broken(&lost))
    }

    /// Returns the answers, unless one of them is an error.
    fn checked<const N: usize>(&self, answers: Vec<Value>) -> Result<[Value; N], WireError> {
        let accepted = answers
            .into_iter()
            .map(|answer| self.accepted_after_the_login(answer));
        let accepted: Vec<Value> = accepted.collect::<Result<_, _>>()?;
        let number = accepted.len();
        accepted.try_into().map_err(|_| {
            WireError::unavailable(format!("a sentinel gave {number} answers, not {N}"))
        })
    }

    /// Returns an answer, unless it is an error. A sentinel that has forgotten the login may accept the next one:
    /// a connection whose query fails is not kept.
    fn accepted_after_the_login(&self, answer: Value) -> Result<Value, WireError> {
        answer.extract_error().map_err(|error| {
            if error_reply::is_of_a_lost_login(&error) {
                let (address, text) = (self.address(), error_reply::describe(&error));
                return WireError::unavailable(format!("the sentinel {address}: {text}"));
            }
            self.refused(&error, describe_setup)
        })
    }

    /// Returns the answer to the login, unless it is an error.
    fn accepted(&self, answer: Value) -> Result<Value, WireError> {
        let refused = |error: RedisError| self.refused(&error, describe_login);
        answer.extract_error().map_err(refused)
    }

    fn refused(
        &self,
        error: &RedisError,
        describe: fn(&RedisError, Option<&str>) -> WireError,
    ) -> WireError {
        let address = self.address();
        let has_password = self.sentinels.login.password().is_some();
        if error.code() == Some("NOAUTH") && !has_password {
            return WireError::refused(format!(
                "the sentinel {address} wants a password, and the URL has no `sentinel_password` (NOAUTH)"
            ));
        }
        match describe(error, self.sentinels.login.password()) {
            WireError::Refused(text) => {
                WireError::refused(format!("the sentinel {address}: {text}"))
            }
            WireError::Unavailable(text) => {
                WireError::unavailable(format!("the sentinel {address}: {text}"))
            }
        }
    }

    fn broken(&self, lost: &ConnectionLost) -> WireError {
        let hint = match lost.error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                self.address().hint_if_closed()
            }
            _ => "",
        };
        let (address, reason) = (self.address(), describe_broken(&lost.error));
        WireError::unavailable(format!("the sentinel {address}: {reason}{hint}"))
    }
}

impl Drop for SentinelConnection {
    fn drop(&mut self) {
        self.transport.close("the sentinel is not asked any more");
    }
}
