//! The client under test.

use std::future::pending;
use std::time::Duration;

use lock_runtime::{Acquire, LockClient, LockError, LockGuard, Standing, campaign};
use redis::RedisResult;
use tokio::signal::unix::{SignalKind, signal};

use super::locks::{Call, Held, Locks, Token};
use super::mode::Mode;
use super::visit::Visit;
use crate::shares::Share;
use crate::wait;

/// The client under test, and the mode in which its calls hold their locks.
#[derive(Clone)]
pub(crate) struct Ours {
    client: LockClient,
    mode: Mode,
    /// How many runs its calls keep.
    runs: Option<u32>,
}

impl Ours {
    pub(crate) fn new(client: LockClient) -> Self {
        Self {
            client,
            mode: Mode::default(),
            runs: None,
        }
    }

    fn lock(&self, call: &Call) -> Acquire {
        let lock = match &call.keys[..] {
            [key] => self.client.lock(key.as_str()),
            keys => self.client.lock_all(keys.iter().map(String::as_str)),
        };
        let lock = lock.ttl(call.ttl).wait(call.wait).retain(call.retain);
        let lock = match self.runs {
            Some(runs) => lock.runs(runs),
            None => lock,
        };
        let is_fenced = match call.token {
            Token::ByName => comes_with_token(&call.name),
            Token::WithLock => true,
            Token::Never => false,
        };
        let lock = if is_fenced { lock.fenced() } else { lock };
        match self.mode {
            Mode::Plain => lock,
            Mode::Write => lock.write(),
            Mode::AtLeast(minimum) => lock.min_hold(minimum),
            Mode::Share(Share { limit: 0, .. }) => lock.read(),
            Mode::Share(Share { take, limit }) => lock.permits(limit).take(take),
        }
    }
}

impl Locks for Ours {
    type Held = Holding;

    fn in_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    fn recording(self, runs: u32) -> Self {
        let runs = Some(runs);
        Self { runs, ..self }
    }

    fn mode(&self) -> Mode {
        self.mode
    }

    async fn acquire(&self, call: &Call) -> Result<Holding, String> {
        let guard = self.lock(call).acquire().await;
        match (call.token, guard) {
            (Token::Never, Ok(guard)) => Ok(Holding { guard, token: 0 }),
            (_, guard) => Holding::of(guard).await,
        }
    }

    async fn run(&self, call: &Call, visit: Visit) -> Result<RedisResult<bool>, String> {
        let body = async |guard: &LockGuard| {
            let token = guard.fencing_token().await.map_err(|error| words(&error))?;
            Ok(visit.make(token.get()).await)
        };
        let ran = self.lock(call).run(body).await;
        ran.map_err(|error| words(&error))?
    }

    async fn campaign(&self, call: &Call, visit: Visit) -> String {
        let mut sigterm = signal(SignalKind::terminate()).expect("signals can be listened to");
        let lead = || {
            let visit = visit.clone();
            let body = async move |guard: &LockGuard| {
                let token = guard.fencing_token().await?.get();
                println!("held {token}");
                visit.make(token).await.expect("the resource is there");
                Ok(())
            };
            let led = self.lock(call).fenced().run(body);
            async move { led.await? }
        };
        let standing = campaign(lead).on_change(|standing| {
            if let Standing::Again { why } = standing {
                println!("again {}", words(why));
            }
        });
        match standing.until(sigterm.recv()).await {
            Ok(None) => "stopped".to_owned(),
            Ok(Some(())) => "ended".to_owned(),
            Err(error) => format!("failed {}", words(&error)),
        }
    }

    async fn shutdown(&self) {
        self.client.shutdown().await;
    }
}

/// Whether a worker requests the token of a lock with this name together with the lock, rather than
/// after it.
pub(crate) fn comes_with_token(key: &str) -> bool {
    key.bytes().last().is_some_and(|last| last % 2 == 0)
}

/// A lock that is held, and its token.
pub(crate) struct Holding {
    guard: LockGuard,
    token: u64,
}

impl Holding {
    async fn of(guard: Result<LockGuard, LockError>) -> Result<Holding, String> {
        let holding = async {
            let guard = guard?;
            let token = guard.fencing_token().await?.get();
            Ok(Holding { guard, token })
        };
        holding.await.map_err(|error: LockError| words(&error))
    }
}

impl Held for Holding {
    fn token(&self) -> u64 {
        self.token
    }

    async fn mint(&mut self) -> Result<(), String> {
        let token = self.guard.fencing_token().await;
        self.token = token.map_err(|error| words(&error))?.get();
        Ok(())
    }

    fn is_valid(&self) -> bool {
        self.guard.is_valid()
    }

    async fn stall(&self, time: Duration) -> Result<(), String> {
        let body = async {
            wait::block(time);
            pending().await
        };
        let ran = self.guard.run(body).await;
        ran.map_err(|error| words(&error))
    }

    async fn renew(&mut self) -> Result<(), String> {
        let renewed = self.guard.renew().await;
        renewed.map_err(|error| words(&error))
    }

    async fn downgrade(self) -> Result<Self, String> {
        Holding::of(self.guard.downgrade().await).await
    }

    async fn release(self) -> Result<(), String> {
        let released = self.guard.release().await;
        released.map_err(|error| words(&error))
    }
}

fn words(error: &LockError) -> String {
    format!("{:?} {error}", error.kind())
}
