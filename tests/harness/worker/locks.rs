//! The interface of a lock client for workers, so that the harness can also drive other libraries.

use std::future::{Future, pending};
use std::time::Duration;

use super::mode::Mode;
use super::visit::Visit;
use crate::wait;

/// A call for a lock. Clients of other kinds hold one lock at a time, without a token, and do not
/// retain leases.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The first of its keys in the order of names.
    pub(crate) name: String,
    /// Its keys, in the order of the call.
    pub(crate) keys: Vec<String>,
    pub(crate) ttl: Duration,
    pub(crate) wait: Duration,
    pub(crate) token: Token,
    /// How long its client retains the lease after the release.
    pub(crate) retain: Duration,
}

/// When a call requests its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// Together with the lock for half of the names, and after it for the others.
    ByName,
    WithLock,
    /// Its holder may [request](Held::mint) it later.
    Never,
}

impl Call {
    /// A `+` separates several keys.
    pub(crate) fn new(keys: &str, ttl: Duration, wait: Duration) -> Self {
        let keys: Vec<_> = keys.split('+').map(str::to_owned).collect();
        Self {
            name: keys.iter().min().expect("there is a key").clone(),
            keys,
            ttl,
            wait,
            token: Token::ByName,
            retain: Duration::ZERO,
        }
    }

    /// The same call, with its token requested at another time.
    pub(crate) fn with(self, token: Token) -> Self {
        Self { token, ..self }
    }
}

/// A client. A failure is a string: a kind, a space, a message.
pub(crate) trait Locks: Clone + Send + Sync + 'static {
    type Held: Held;

    /// The same client, whose later calls hold their locks in this mode. Other kinds always hold
    /// them exclusively.
    fn in_mode(self, _mode: Mode) -> Self {
        self
    }

    /// The same client, whose later calls record their runs and keep this many of them. Other kinds record none.
    fn recording(self, _runs: u32) -> Self {
        self
    }

    /// The mode in which its calls hold their locks.
    fn mode(&self) -> Mode {
        Mode::Plain
    }

    fn acquire(&self, call: &Call) -> impl Future<Output = Result<Self::Held, String>> + Send;

    /// One visit under the lock, as a service would make it. The inner failure comes from the
    /// resource.
    fn run(
        &self,
        call: &Call,
        visit: Visit,
    ) -> impl Future<Output = Result<redis::RedisResult<bool>, String>> + Send {
        async move {
            let held = self.acquire(call).await?;
            let made = visit.make(held.token()).await;
            held.release().await?;
            Ok(made)
        }
    }

    /// Leads whenever it has the lock, until SIGTERM. Prints a line for each change, and returns the last one.
    fn campaign(&self, _call: &Call, _visit: Visit) -> impl Future<Output = String> + Send {
        async { "failed InvalidOptions it has no campaigns".to_owned() }
    }

    fn shutdown(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

pub(crate) trait Held: Send + Sync + 'static {
    /// The fencing token; 0 if the lock has none.
    fn token(&self) -> u64 {
        0
    }

    /// Requests the token that the lock lacks.
    fn mint(&mut self) -> impl Future<Output = Result<(), String>> + Send {
        async { Ok(()) }
    }

    /// Whether the client still considers it held.
    fn is_valid(&self) -> bool;

    /// Runs a body that blocks its thread for a time, and then awaits forever.
    fn stall(&self, time: Duration) -> impl Future<Output = Result<(), String>> + Send {
        async move {
            wait::block(time);
            pending().await
        }
    }

    fn renew(&mut self) -> impl Future<Output = Result<(), String>> + Send;

    /// Becomes a reader.
    fn downgrade(self) -> impl Future<Output = Result<Self, String>> + Send
    where
        Self: Sized,
    {
        async { Err("InvalidOptions it has no readers".to_owned()) }
    }

    fn release(self) -> impl Future<Output = Result<(), String>> + Send;
}
