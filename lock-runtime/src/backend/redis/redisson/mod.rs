//! Keeps locks in the record of Redisson's `RLock`, so that they and the locks of Java services exclude each other.
//!
//! The record is a hash under the lock's own name. Its one field stands for the owner, and has the value 1. There is no
//! queue: a waiter listens to the lock's channel and competes. Only the hash and the channels are Redisson's, not the
//! scripts.

mod hash_record;
mod listeners;
mod redisson_scripts;
mod subscription;

use std::sync::Arc;

use uuid::Builder;

pub(super) use self::listeners::{Listeners, RedissonEvents};
pub(super) use self::redisson_scripts::{SCRIPTS, parse_acquire_reply};
use self::subscription::Channels;
pub(crate) use self::subscription::Subscription;
use super::encoder::{Argument, millis};
use super::node::{Node, NodeError};
use crate::backend::wire::error::WireError;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::{Renewal, RenewalOutcome};
use crate::background::random;
use crate::error::LockError;
use crate::key::LockName;
use crate::lease::owner_id::OwnerId;

/// A client that shares its locks with Redisson's clients.
pub(super) struct Redisson {
    channels: Arc<Channels>,
    /// The name of this client: a UUID in its usual form.
    client: String,
}

impl Redisson {
    pub(super) fn new(node: Arc<Node>, listeners: Arc<Listeners>) -> Result<Redisson, LockError> {
        let client = Builder::from_random_bytes(random::bytes()?).into_uuid();
        Ok(Redisson {
            channels: Arc::new(Channels { node, listeners }),
            client: client.hyphenated().to_string(),
        })
    }

    /// Returns the field that stands for an owner.
    pub(super) fn field<'a>(&'a self, owner_id: &'a OwnerId) -> Argument<'a> {
        Argument::Field(&self.client, owner_id)
    }

    pub(super) fn subscription(&self, lock: &LockName) -> Subscription {
        Subscription::new(&self.channels, lock)
    }

    pub(super) async fn listen(&self, owner: &Owner) -> Result<bool, WireError> {
        self.channels.listen(owner).await
    }

    /// Extends leases.
    pub(super) async fn renew(&self, renewals: &[Renewal]) -> Vec<RenewalOutcome> {
        let write = |output: &mut Vec<u8>, renewals: &[&Renewal], by_source: bool| {
            for (number, renewal) in renewals.iter().enumerate() {
                let arguments = [
                    self.field(&renewal.owner_id),
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
        let renewed = renewed.into_iter();
        renewed
            .map(|renewed| renewed.map_err(NodeError::into_wire))
            .collect()
    }
}
