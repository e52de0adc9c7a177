//! Waiting for the replicas that must have a lock.

use std::time::Instant;

use super::Acquisition;
use crate::backend::engine::competing::command::Command;
use crate::backend::engine::competing::event::Event;
use crate::backend::remote::reaper;
use crate::backend::wire::Wire;

impl<W: Wire> Acquisition<W> {
    /// The lock is granted once enough replicas have it.
    pub(super) async fn await_replicas(&mut self) -> Command {
        let owner = self.competing.owner().expect("it was granted the lock");
        let ttl = self.request.terms.first_ttl();
        match self.context.wire.replicated(owner, ttl).await {
            Ok(()) => self.granted_by(Event::HasReplicas),
            Err(error) => self.failed(error),
        }
    }

    /// Gives back a lock that too few replicas have, and waits until that is confirmed.
    pub(super) async fn give_back(&mut self) -> Command {
        if let Some(owner) = self.competing.give_back() {
            let ended = reaper::end(&self.context, owner);
            let until = Instant::now() + self.context.command_timeout;
            let _ = self.context.timers().timeout_at(until, ended).await;
        }
        self.on(Event::GivenBack)
    }

    /// Asks whether anybody can have the lock now, before the callers behind this one are told who has it.
    pub(super) async fn check_replicas(&mut self) -> Command {
        let owner = self.competing.owner().expect("it has asked");
        match self.context.wire.has_replicas(owner).await {
            Ok(()) => {
                if let Some(holder) = self.last_known.take() {
                    self.learn(holder);
                }
                self.on(Event::HasReplicas)
            }
            Err(error) => self.failed(error),
        }
    }
}
