//! Tracks the locks for whose releases a client listens.
//!
//! Redisson's record has no queue. Each release is announced on a channel of the lock. A client is subscribed to that
//! channel while a caller waits for the lock.

use std::collections::HashMap;
use std::sync::Arc;

use super::subscription::channel_of;
use crate::backend::redis::encoder::{self, Argument};
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::{NodeId, WireEvents};
use crate::background::fork::Origin;
use crate::background::sync::Mutex;
use crate::error::LockError;
use crate::key::LockName;
use crate::lease::owner_id::{ClientId, OwnerId};

/// The listeners of a client, by the channel of their lock.
///
/// The mutex may be taken while a connection's mutex is held, but never the other way round.
pub(in crate::backend::redis) struct Listeners {
    by_channel: Mutex<HashMap<String, Listener>>,
    origin: Origin,
}

#[derive(Debug, Default)]
struct Listener {
    /// The number of callers that are waiting for the lock.
    callers: usize,
    /// The owner of the caller at the head of the local queue, which asks for the lock.
    owner: Option<OwnerId>,
    /// The connection of the last subscribe command.
    sent: Option<ConnectionId>,
    /// Whether that command was answered.
    is_confirmed: bool,
}

/// The releases that an owner may have missed before it began to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// Nothing: it listened before.
    Nothing,
    /// Perhaps a release that another owner was notified of.
    MaybeRelease,
    /// The connection is not subscribed.
    All,
}

impl Listeners {
    pub(in crate::backend::redis) fn new() -> Listeners {
        Listeners {
            by_channel: Mutex::default(),
            origin: Origin::here(),
        }
    }

    /// Counts one more waiting caller.
    pub(super) fn enter(&self, channel: &str) {
        let mut listeners = self.by_channel.lock();
        match listeners.get_mut(channel) {
            Some(listener) => listener.callers += 1,
            None => {
                let listener = Listener {
                    callers: 1,
                    ..Listener::default()
                };
                listeners.insert(channel.to_owned(), listener);
            }
        }
    }

    /// Counts one waiting caller less. After the last one, returns the connection to unsubscribe, if one may be
    /// subscribed.
    pub(super) fn leave(&self, channel: &str) -> Option<ConnectionId> {
        // In a forked child, another thread of the parent may have held the mutex during the fork.
        let mut listeners = self.by_channel.lock_unless_forked(&self.origin)?;
        let listener = listeners.get_mut(channel)?;
        listener.callers -= 1;
        if listener.callers > 0 {
            return None;
        }
        if listener.sent.is_none() {
            listeners.remove(channel);
            return None;
        }
        listener.sent
    }

    /// Notifies `owner` of releases from now on, instead of the previous owner.
    pub(super) fn listen(&self, channel: &str, owner: OwnerId, on: ConnectionId) -> Missed {
        let mut listeners = self.by_channel.lock();
        let Some(listener) = listeners.get_mut(channel) else {
            return Missed::Nothing;
        };
        let before = listener.owner.replace(owner);
        if listener.sent != Some(on) || !listener.is_confirmed {
            Missed::All
        } else if before == Some(owner) {
            Missed::Nothing
        } else {
            Missed::MaybeRelease
        }
    }

    /// Appends the command that makes a connection's subscription match the current need of the callers.
    ///
    /// Runs while the connection accepts the command. So the last accepted command is the right one, even if callers
    /// arrive and leave at the same time.
    pub(super) fn write_subscription(&self, output: &mut Vec<u8>, channel: &str, on: ConnectionId) {
        let mut listeners = self.by_channel.lock();
        let listener = listeners.get_mut(channel);
        let command = match listener.filter(|listener| listener.callers > 0) {
            Some(listener) => {
                (listener.sent, listener.is_confirmed) = (Some(on), false);
                "SUBSCRIBE"
            }
            None => {
                listeners.remove(channel);
                "UNSUBSCRIBE"
            }
        };
        encoder::write(output, &[Argument::Text(command), Argument::Text(channel)]);
    }

    /// Notes that the command was answered: the connection is subscribed, or was refused.
    pub(super) fn answered(&self, channel: &str, on: ConnectionId, is_subscribed: bool) {
        let mut listeners = self.by_channel.lock();
        if let Some(listener) = listeners.get_mut(channel)
            && listener.sent == Some(on)
        {
            listener.is_confirmed = is_subscribed;
        }
    }

    /// Forgets a lock without waiting callers, since the connection is gone.
    pub(super) fn forget(&self, channel: &str) {
        let mut listeners = self.by_channel.lock();
        if listeners
            .get(channel)
            .is_some_and(|listener| listener.callers == 0)
        {
            listeners.remove(channel);
        }
    }

    /// Returns the owner to notify of a message on this channel.
    pub(super) fn owner(&self, channel: &[u8]) -> Option<OwnerId> {
        let channel = str::from_utf8(channel).ok()?;
        self.by_channel.lock().get(channel)?.owner
    }
}

/// Forwards events. For a message it finds the owner.
pub(in crate::backend::redis) struct RedissonEvents {
    pub(in crate::backend::redis) listeners: Arc<Listeners>,
    pub(in crate::backend::redis) events: Arc<dyn WireEvents>,
}

impl WireEvents for RedissonEvents {
    /// Returns none, since no client announces a grant.
    fn client_ids(&self, _: NodeId) -> Result<Vec<ClientId>, LockError> {
        Ok(Vec::new())
    }

    fn missing_ids(&self, _: &[ClientId]) -> Vec<ClientId> {
        Vec::new()
    }

    fn connected(&self, node: NodeId, connection: ConnectionId) {
        self.events.connected(node, connection);
    }

    fn disconnected(
        &self,
        node: NodeId,
        connection: ConnectionId,
        concerns: &dyn Fn(&LockName) -> bool,
    ) {
        self.events.disconnected(node, connection, concerns);
    }

    fn moved(&self, concerns: &dyn Fn(&LockName) -> bool) {
        self.events.moved(concerns);
    }

    fn doubted(&self, concerns: &dyn Fn(&LockName) -> bool) {
        self.events.doubted(concerns);
    }

    /// Whatever the message contains, asking for the lock once more is harmless.
    fn message(&self, channel: &[u8], _payload: &[u8]) {
        if let Some(owner) = self.listeners.owner(channel) {
            let concerns = |lock: &LockName| channel_of(lock).as_bytes() == channel;
            self.events.released(owner, &concerns);
        }
    }

    fn released(&self, listener: OwnerId, concerns: &dyn Fn(&LockName) -> bool) {
        self.events.released(listener, concerns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ConnectionId = ConnectionId(1);
    const SECOND: ConnectionId = ConnectionId(2);

    fn owner(letter: &str) -> OwnerId {
        OwnerId::parse_prefix(letter.repeat(22).as_bytes()).unwrap()
    }

    /// Returns the name of the command that is written for the channel `c`.
    fn written(listeners: &Listeners, on: ConnectionId) -> String {
        let mut output = Vec::new();
        listeners.write_subscription(&mut output, "c", on);
        let output = String::from_utf8(output).unwrap();
        output.split("\r\n").nth(2).unwrap().to_owned()
    }

    #[test]
    fn first_caller_subscribes_and_last_caller_unsubscribes() {
        let listeners = Listeners::new();
        listeners.enter("c");
        assert_eq!(listeners.listen("c", owner("a"), FIRST), Missed::All);
        assert_eq!(written(&listeners, FIRST), "SUBSCRIBE");
        listeners.answered("c", FIRST, true);
        listeners.enter("c");
        assert_eq!(listeners.leave("c"), None, "one caller is left");
        assert_eq!(listeners.leave("c"), Some(FIRST));
        assert_eq!(written(&listeners, FIRST), "UNSUBSCRIBE");
        assert!(listeners.by_channel.lock().is_empty());
    }

    #[test]
    fn caller_that_comes_before_the_unsubscription_is_sent_stays_subscribed() {
        let listeners = Listeners::new();
        listeners.enter("c");
        written(&listeners, FIRST);
        assert_eq!(listeners.leave("c"), Some(FIRST));
        listeners.enter("c");
        assert_eq!(written(&listeners, FIRST), "SUBSCRIBE");
        listeners.forget("c");
        assert_eq!(listeners.by_channel.lock().len(), 1);
    }

    #[test]
    fn owner_asks_again_after_the_subscription_and_after_another_owner() {
        let listeners = Listeners::new();
        listeners.enter("c");
        written(&listeners, FIRST);
        assert_eq!(listeners.listen("c", owner("a"), FIRST), Missed::All);
        listeners.answered("c", FIRST, true);
        assert_eq!(listeners.listen("c", owner("a"), FIRST), Missed::Nothing);
        assert_eq!(
            listeners.listen("c", owner("b"), FIRST),
            Missed::MaybeRelease
        );
        assert_eq!(listeners.owner(b"c"), Some(owner("b")));
        assert_eq!(listeners.owner(b"d"), None);
        assert_eq!(listeners.listen("c", owner("b"), SECOND), Missed::All);
    }

    #[test]
    fn refused_subscription_is_tried_again() {
        let listeners = Listeners::new();
        listeners.enter("c");
        written(&listeners, FIRST);
        listeners.answered("c", FIRST, false);
        assert_eq!(listeners.listen("c", owner("a"), FIRST), Missed::All);
    }

    #[test]
    fn caller_that_never_subscribed_leaves_nothing() {
        let listeners = Listeners::new();
        listeners.enter("c");
        assert_eq!(listeners.leave("c"), None);
        assert!(listeners.by_channel.lock().is_empty());
        listeners.enter("c");
        written(&listeners, FIRST);
        listeners.leave("c");
        listeners.forget("c");
        assert!(listeners.by_channel.lock().is_empty());
    }
}
