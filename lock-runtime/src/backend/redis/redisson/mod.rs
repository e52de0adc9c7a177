//! Locks in the record of Redisson's `RLock`, so that Java services and this crate's exclude each other.
//!
//! The record is a hash at the lock's own name, with one field for its owner and the number 1. There is no queue: who
//! waits listens to the lock's channel and competes. Only the hash and the channels are Redisson's; the scripts are not.

mod events;
mod inspection;
mod listeners;
mod scripts;
mod subscription;

use std::sync::Arc;
use std::time::Duration;

use redis::Value;
use uuid::Builder;

use self::events::RedissonEvents;
use self::listeners::Listeners;
use self::scripts::SCRIPTS;
use self::subscription::Channels;
pub(crate) use self::subscription::Subscription;
use super::command::{Argument, millis};
use super::connect::Settings;
use super::hello::ServerMode;
use super::locator::Locator;
use super::node::{Purpose, ScriptCall, SendEvent};
use super::node_error::NodeError;
use super::scripts::parse_release_reply;
use super::topology::only_node;
use super::url::{Servers, Target};
use crate::backend::wire::error::WireError;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::{
    AcquireRequest, EndRequest, ReleaseRequest, Renewal, RenewalOutcome, RestRequest, Wire,
    WireEvents,
};
use crate::background::{Background, random};
use crate::config::Options;
use crate::error::LockError;
use crate::key::LockName;

/// A wire to Redis or Valkey whose locks are in Redisson's record.
pub(crate) struct RedissonWire {
    channels: Arc<Channels>,
    /// The name of this client among Redisson's: a UUID, in its usual form.
    client: String,
    /// The user that it is logged in as.
    user: String,
}

impl RedissonWire {
    /// A wire to one server. Does not connect before the first command.
    pub(crate) fn new(
        target: Target,
        options: &Options,
        background: Background,
        events: Arc<dyn WireEvents>,
    ) -> Result<RedissonWire, LockError> {
        let Target { servers, login } = target;
        let (locator, expected) = match servers {
            Servers::One(address) => (Locator::from(address), ServerMode::Standalone),
            Servers::Sentinels(sentinels) => {
                (Locator::from(Arc::new(sentinels)), ServerMode::Primary)
            }
            Servers::Cluster(_) => unreachable!("the limits of a cluster refuse this record"),
        };
        let user = login.username().unwrap_or("default").to_owned();
        let settings = Settings::new(login, expected, options, background);
        let client = Builder::from_random_bytes(random::bytes()?).into_uuid();
        let listeners = Arc::new(Listeners::new());
        let events = RedissonEvents {
            listeners: listeners.clone(),
            events,
        };
        let node = only_node(locator, settings, Arc::new(events));
        Ok(RedissonWire {
            channels: Arc::new(Channels { node, listeners }),
            client: client.hyphenated().to_string(),
            user,
        })
    }

    async fn run(
        &self,
        purpose: Purpose,
        call: &ScriptCall<'_>,
        note: impl FnMut(SendEvent) + Send,
    ) -> Result<Answered<Value>, WireError> {
        let node = &self.channels.node;
        let answered = node.run(purpose, call, node.until(), note).await;
        answered.map_err(NodeError::into_wire)
    }

    /// Frees the lock if the owner has it. It is in no queue, so nothing else is left of it then.
    async fn free(&self, owner: &mut Owner) -> Result<Answered<EndReply>, WireError> {
        let Owner {
            entry,
            names,
            outstanding,
            ..
        } = owner;
        let call = ScriptCall {
            script: &SCRIPTS.release,
            names,
            arguments: &[Argument::Field(&self.client, &entry.owner_id)],
            shortcut: None,
        };
        let note = |event: SendEvent| match event {
            SendEvent::Sending(on) => outstanding.ending(on),
            SendEvent::Unsent(_) | SendEvent::Answered(_) | SendEvent::Refused(_) => {
                outstanding.ending_is_known();
            }
        };
        let purpose = Purpose::End;
        let Answered { at, answer } = self.run(purpose, &call, note).await?;
        let answer = parse_release_reply(&answer)?;
        Ok(Answered { at, answer })
    }
}

impl Wire for RedissonWire {
    const HAS_QUEUE: bool = false;
    const HAS_SUCCESSORS: bool = false;

    type Subscription = Subscription;

    fn subscription(&self, lock: &LockName) -> Option<Subscription> {
        Some(Subscription::new(&self.channels, lock))
    }

    async fn listen(&self, owner: &Owner) -> Result<bool, WireError> {
        self.channels.listen(owner).await
    }

    async fn acquire(
        &self,
        owner: &mut Owner,
        request: AcquireRequest,
    ) -> Result<Answered<AcquireReply>, WireError> {
        let ttl = request.ttl;
        let Owner {
            entry,
            names,
            outstanding,
            ..
        } = owner;
        let call = ScriptCall {
            script: &SCRIPTS.acquire,
            names,
            arguments: &[
                Argument::Field(&self.client, &entry.owner_id),
                Argument::Number(millis(ttl)),
            ],
            shortcut: None,
        };
        let note = |event: SendEvent| match event {
            SendEvent::Sending(on) => outstanding.sending(on, ttl, false),
            SendEvent::Unsent(on) => outstanding.unsent(on),
            SendEvent::Answered(on) => outstanding.answered(on),
            SendEvent::Refused(on) => outstanding.refused(on),
        };
        let purpose = Purpose::Acquire;
        let Answered { at, answer } = self.run(purpose, &call, note).await?;
        let answer = scripts::parse_acquire_reply(answer)?;
        Ok(Answered { at, answer })
    }

    async fn renew(
        &self,
        renewals: &[Renewal],
        mut report: impl FnMut(usize, RenewalOutcome) + Send,
    ) {
        let write = |output: &mut Vec<u8>, renewals: &[&Renewal], by_source: bool| {
            for (number, renewal) in renewals.iter().enumerate() {
                let arguments = [
                    Argument::Field(&self.client, &renewal.owner_id),
                    Argument::Number(millis(renewal.extension.ttl)),
                ];
                let carries = by_source && number == 0;
                SCRIPTS
                    .renew
                    .write(output, carries, &renewal.names, &arguments);
            }
        };
        let node = &self.channels.node;
        let all: Vec<&Renewal> = renewals.iter().collect();
        let renewed = node.renew(&all, write, None, node.until()).await;
        for (number, renewed) in renewed.into_iter().enumerate() {
            report(number, renewed.map_err(NodeError::into_wire));
        }
    }

    async fn release(&self, owner: &mut Owner, _: ReleaseRequest) -> Result<EndReply, WireError> {
        self.free(owner).await.map(|answered| answered.answer)
    }

    /// A call that asks for a minimum hold was refused before.
    async fn rest(&self, _: &mut Owner, _: RestRequest) -> Result<EndReply, WireError> {
        Err(WireError::refused("Redisson's record has no minimum hold"))
    }

    async fn end(
        &self,
        owner: &mut Owner,
        _: EndRequest<'_>,
    ) -> Result<Answered<EndReply>, WireError> {
        self.free(owner).await
    }

    /// A client that waits for replicas has another record.
    async fn replicated(&self, _: &Owner, _: Duration) -> Result<(), WireError> {
        Ok(())
    }

    fn read_messages(&self, _: &LockName) {
        if let Some(connection) = self.channels.node.connected() {
            connection.transport.read_messages();
        }
    }

    fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        vec![renewals]
    }

    fn keep_reading_messages(&self) {
        if let Some(connection) = self.channels.node.connected() {
            connection.transport.keep_reading_messages();
        }
    }

    async fn ping(&self) -> Result<(), WireError> {
        self.channels
            .node
            .ping(self.channels.node.until())
            .await
            .map_err(NodeError::into_wire)
    }
}
