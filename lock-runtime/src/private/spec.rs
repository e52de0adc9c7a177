//! The attribute's options.

use std::time::Duration;

use super::client::ClientRef;
use crate::acquire::Acquire;
use crate::client::LockClient;
use crate::error::LockError;
use crate::model::key::LockKey;

/// What one call asks for, before it is known of which client.
///
/// It owns everything: it is complete before the first await, and arguments are only borrowed for
/// it.
#[derive(Debug)]
#[must_use]
pub struct Spec {
    key: LockKey,
    function: &'static str,
    template: &'static str,
    ttl: Option<Duration>,
    wait: Option<Duration>,
    renew: Option<bool>,
    max_hold: Option<Duration>,
    reentrant: Option<bool>,
}

impl Spec {
    /// The lock named `key`, asked for by `function`. `template` stands for the key where a value
    /// must not show: in labels of metrics.
    pub fn new(key: LockKey, function: &'static str, template: &'static str) -> Spec {
        Spec {
            key,
            function,
            template,
            ttl: None,
            wait: None,
            renew: None,
            max_hold: None,
            reentrant: None,
        }
    }

    /// `ttl = …`
    pub fn ttl(mut self, ttl: Duration) -> Spec {
        self.ttl = Some(ttl);
        self
    }

    /// `wait = …`
    pub fn wait(mut self, wait: Duration) -> Spec {
        self.wait = Some(wait);
        self
    }

    /// `renew = …`
    pub fn renew(mut self, renew: bool) -> Spec {
        self.renew = Some(renew);
        self
    }

    /// `max_hold = …`
    pub fn max_hold(mut self, max_hold: Duration) -> Spec {
        self.max_hold = Some(max_hold);
        self
    }

    /// `reentrant = …`
    pub fn reentrant(mut self, reentrant: bool) -> Spec {
        self.reentrant = Some(reentrant);
        self
    }

    /// Asks the client of `client = …`. It cannot fail; it is a `Result` so that both ways to a
    /// client expand alike.
    pub fn on<C: ClientRef + ?Sized>(self, client: &C) -> Result<Acquire, LockError> {
        Ok(self.ask(client.client()))
    }

    /// Asks the installed client.
    ///
    /// # Errors
    ///
    /// `NotInstalled`.
    pub fn on_installed(self) -> Result<Acquire, LockError> {
        LockClient::installed().map(|client| self.ask(&client))
    }

    fn ask(self, client: &LockClient) -> Acquire {
        let mut acquire = client
            .lock(self.key)
            .described(self.function, self.template);
        if let Some(ttl) = self.ttl {
            acquire = acquire.ttl(ttl);
        }
        if let Some(wait) = self.wait {
            acquire = acquire.wait(wait);
        }
        if let Some(renew) = self.renew {
            acquire = acquire.renew(renew);
        }
        if let Some(max_hold) = self.max_hold {
            acquire = acquire.max_hold(max_hold);
        }
        if let Some(reentrant) = self.reentrant {
            acquire = acquire.reentrant(reentrant);
        }
        acquire
    }
}
