//! Locks in the record of Redisson's `RLock`, so that Java services and this crate's exclude each other.
//!
//! The record is a hash at the lock's own name, with one field for its owner and the number 1. There is no queue: who
//! waits listens to the lock's channel and competes. Only the hash and the channels are Redisson's; the scripts are not.

mod events;
mod listeners;
mod scripts;
mod subscription;

use std::sync::Arc;

use uuid::Builder;

use self::events::RedissonEvents;
use self::listeners::Listeners;
use self::scripts::SCRIPTS;
use self::subscription::Channels;
pub(crate) use self::subscription::Subscription;
use super::command::{Argument, millis};
use super::connect::Setup;
use super::node::{Renewed, ScriptCall, SendEvent};
use super::scripts::parse_release_reply;
use super::topology::Topology;
use super::url::Target;
use crate::backend::wire::error::WireError;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::{
    AcquireRequest, EndRequest, ReleaseRequest, Renewal, RestRequest, Wire, WireEvents,
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
}

impl RedissonWire {
    /// A wire to one server. Does not connect before the first command.
    pub(crate) fn new(
        target: Target,
        options: &Options,
        background: Background,
        events: Arc<dyn WireEvents>,
    ) -> Result<RedissonWire, LockError> {
        let setup = Setup::new(target, options, background);
        let client = Builder::from_random_bytes(random::bytes()?).into_uuid();
        let listeners = Arc::new(Listeners::new());
        let events = RedissonEvents {
            listeners: listeners.clone(),
            events,
        };
        let topology = Topology::single(setup, Arc::new(events));
        Ok(RedissonWire {
            channels: Arc::new(Channels {
                topology,
                listeners,
            }),
            client: client.hyphenated().to_string(),
        })
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
            holder: None,
        };
        let note = |event: SendEvent| match event {
            SendEvent::Sending(on) => outstanding.ending(on),
            SendEvent::Unsent(_) | SendEvent::Answered(_) => outstanding.ending_is_known(),
        };
        let node = self.channels.topology.node(&names.first().lock);
        let Answered { at, answer } = node.run(&node.ending, &call, note).await?;
        let answer = parse_release_reply(&answer)?;
        Ok(Answered { at, answer })
    }
}

impl Wire for RedissonWire {
    const HAS_QUEUE: bool = false;

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
            holder: None,
        };
        let note = |event: SendEvent| match event {
            SendEvent::Sending(on) => outstanding.sending(on, ttl, false),
            SendEvent::Unsent(on) => outstanding.unsent(on),
            SendEvent::Answered(on) => outstanding.answered(on),
        };
        let node = self.channels.topology.node(&names.first().lock);
        let Answered { at, answer } = node.run(&node.acquiring, &call, note).await?;
        let answer = scripts::parse_acquire_reply(answer)?;
        Ok(Answered { at, answer })
    }

    async fn renew(&self, renewals: &[Renewal]) -> Vec<Renewed> {
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
        self.channels.topology.renew(renewals, write).await
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

    fn read_messages(&self) {
        let nodes = self.channels.topology.nodes();
        nodes.for_each(|node| node.read_messages());
    }

    fn keep_reading_messages(&self) {
        let nodes = self.channels.topology.nodes();
        nodes.for_each(|node| node.keep_reading_messages());
    }

    async fn ping(&self) -> Result<(), WireError> {
        for node in self.channels.topology.nodes() {
            node.ping().await?;
        }
        Ok(())
    }
}
