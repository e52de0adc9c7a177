//! A contestant that is chosen when the program runs.

use std::time::Duration;

use lock_runtime::LockGuard;
use rslock::LockManager;

use super::{Contestant, Ours, TTL};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This project's client, strictly in order of arrival.
    InOrder,
    /// This project's client with its defaults: at most 16 local turns.
    Ours,
    Rslock,
    RslockTuned,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::InOrder, Kind::Ours, Kind::Rslock, Kind::RslockTuned];
    pub(crate) const PEERS: [Kind; 2] = [Kind::Rslock, Kind::RslockTuned];

    /// Its name in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::InOrder => "lock-runtime, local turns off",
            Kind::Ours => "lock-runtime",
            Kind::Rslock => "rslock",
            Kind::RslockTuned => "rslock, tuned",
        }
    }

    /// The kind with this name.
    pub(crate) fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Kind::InOrder | Kind::Ours)
    }

    /// The commands that it sends, without commands inside scripts.
    pub(crate) fn commands(self) -> &'static [&'static str] {
        if self.is_ours() {
            &["evalsha", "eval", "delifeq", "delex"]
        } else {
            &["set", "evalsha", "eval"]
        }
    }

    /// A client of this kind, in the runtime that will use it.
    pub(crate) async fn connect(self, url: &str) -> Any {
        match self {
            Kind::InOrder => Any::Ours(Ours::with(url, |builder| builder.local_turns(1)).await),
            Kind::Ours => Any::Ours(Ours::connect(url).await),
            // With its defaults: three tries, up to 200 ms apart, repeated until one succeeds.
            Kind::Rslock => Any::Rslock(LockManager::new(urls(url))),
            // With the shortest retries: it waits for a random whole number of milliseconds below this.
            // Ten are better with more than a hundred waiters, and worse with a few.
            Kind::RslockTuned => {
                let mut manager = LockManager::new(urls(url));
                manager.set_retry(u32::MAX, Duration::from_millis(2));
                Any::Rslock(manager)
            }
        }
    }
}

/// The URLs of the nodes of a quorum, or of a server.
fn urls(url: &str) -> Vec<String> {
    match url.strip_prefix("redlock://") {
        Some(hosts) => hosts
            .split(',')
            .map(|host| format!("redis://{host}"))
            .collect(),
        None => vec![url.to_owned()],
    }
}

/// A client of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Any {
    Ours(Ours),
    Rslock(LockManager),
}

/// A lock of any kind.
#[derive(Debug)]
pub(crate) enum Held {
    Ours(LockGuard),
    Rslock(rslock::LockGuard),
}

impl Any {
    /// Waits for the lock together with its fencing token; 0 if it has none.
    pub(crate) async fn acquire_fenced(&self, key: &str) -> (Held, u64) {
        match self {
            Any::Ours(ours) => {
                let (held, token) = ours.acquire_fenced(key).await;
                (Held::Ours(held), token)
            }
            Any::Rslock(_) => (self.acquire(key).await, 0),
        }
    }
}

impl Contestant for Any {
    type Held = Held;

    async fn acquire(&self, key: &str) -> Held {
        match self {
            Any::Ours(ours) => Held::Ours(ours.acquire(key).await),
            Any::Rslock(manager) => {
                let acquire = manager.acquire(key, TTL).await;
                Held::Rslock(acquire.expect("the lock can be acquired"))
            }
        }
    }

    async fn release(&self, held: Held) {
        match held {
            Held::Ours(held) => held.release().await.expect("it was held throughout"),
            Held::Rslock(held) => held.release().await,
        }
    }
}
