//! The messages to a subscriber.

use std::collections::VecDeque;

use redis::Value;

use crate::fake::FakeServer;
use crate::pattern;
use crate::state::{Message, State};
use crate::value::Bytes;

/// A subscription. Dropping it unsubscribes.
///
/// As an iterator it gives the pushes that have arrived, as a connection would receive them: `message`, the channel and the
/// payload, or `pmessage`, the pattern, the channel and the payload. It gives none as soon as there is none.
#[derive(Debug)]
pub struct Inbox {
    server: FakeServer,
    number: u64,
}

impl Inbox {
    pub(crate) fn open(server: FakeServer, subscription: Subscription) -> Self {
        let mut shared = server.shared();
        *subscription.count(&mut shared.state) += 1;
        let last = shared.subscriptions.last_key_value();
        let number = last.map_or(0, |(number, _)| number + 1);
        shared.subscriptions.insert(number, subscription);
        drop(shared);
        Self { server, number }
    }
}

impl Iterator for Inbox {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let mut shared = self.server.shared();
        let subscription = shared.subscriptions.get_mut(&self.number)?;
        subscription.pushes.pop_front()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut shared = self.server.shared();
        if let Some(subscription) = shared.subscriptions.remove(&self.number) {
            let count = subscription.count(&mut shared.state);
            *count -= 1;
            if *count == 0 {
                shared.state.channels.retain(|_, count| *count > 0);
                shared.state.patterns.retain(|_, count| *count > 0);
            }
        }
    }
}

/// What an inbox subscribes to, and the messages that have arrived.
#[derive(Debug)]
pub(crate) struct Subscription {
    to: Topic,
    pushes: VecDeque<Value>,
}

#[derive(Debug)]
enum Topic {
    Channel(Bytes),
    Pattern(Bytes),
}

impl Subscription {
    pub(crate) fn new(command: &str, channel: &str) -> Self {
        let name = channel.as_bytes().to_vec();
        let to = match command {
            "SUBSCRIBE" => Topic::Channel(name),
            "PSUBSCRIBE" => {
                assert!(
                    pattern::is_known(&name),
                    "no pattern of the fake: {channel}"
                );
                Topic::Pattern(name)
            }
            other => panic!("{other} subscribes to nothing"),
        };
        let pushes = VecDeque::new();
        Self { to, pushes }
    }

    /// How many subscribe to the same.
    fn count<'a>(&self, state: &'a mut State) -> &'a mut u32 {
        let (of, name) = match &self.to {
            Topic::Channel(name) => (&mut state.channels, name),
            Topic::Pattern(name) => (&mut state.patterns, name),
        };
        of.entry(name.clone()).or_default()
    }

    pub(crate) fn deliver(&mut self, (channel, payload): &Message) {
        let parts = match &self.to {
            Topic::Channel(name) if name == channel => vec![b"message", &channel[..], payload],
            Topic::Pattern(name) if pattern::matches(name, channel) => {
                vec![b"pmessage", &name[..], channel, payload]
            }
            _ => return,
        };
        let parts = parts
            .into_iter()
            .map(|part| Value::BulkString(part.to_vec()));
        self.pushes.push_back(Value::Array(parts.collect()));
    }
}
