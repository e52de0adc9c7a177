//! The rules of shares.

use super::{AuditedRun, Breach, Breaches};
use crate::server::{Answer, Command, Mode, OwnerId, QueueEntry, Shares};

impl AuditedRun<'_> {
    /// Whether the sender turns its own lock into a share.
    pub(super) fn downgrades(&self) -> bool {
        let holder = self.before.holder();
        matches!(
            self.command,
            Command::ShareAcquire { owner, .. } | Command::Downgrade { owner, .. }
                if holder == Some(owner)
        )
    }

    pub(super) fn audit_shares(&self, breaches: &mut Breaches) {
        self.audit_service(breaches);
        self.audit_end_of_writer(breaches);
        if self.before.holder() != Some(OwnerId::PHASE)
            && self.after.holder() != Some(OwnerId::PHASE)
        {
            return;
        }
        let ended = self.command.ended();
        let is_released = self.answer == Answer::Code(1);
        for member in self
            .before
            .members()
            .iter()
            .filter(|member| member.is_live())
        {
            let now = self.after.share(member.owner);
            let stays = now.is_some_and(|now| now.rest >= member.rest);
            if ended == Some(member.owner) {
                if is_released && now.is_some() {
                    breaches.add(Breach::NotEnded);
                }
            } else if !stays && !self.revokes() {
                breaches.add(Breach::ShareTaken);
            }
        }
        self.audit_order(breaches);
    }

    /// A script that admits or removes an owner also admits at least the first waiter, if it fits.
    fn audit_service(&self, breaches: &mut Breaches) {
        let is_in = matches!(self.answer, Answer::Held { .. });
        let serves = match self.command {
            Command::ShareAcquire { .. } | Command::Downgrade { .. } => is_in,
            Command::ShareRelease { .. } => self.answer == Answer::Code(1),
            Command::ShareEnd { .. } => matches!(self.answer, Answer::Code(1..)),
            _ => false,
        };
        if !serves || self.mode != Mode::Normal {
            return;
        }
        let is_shared = self.after.holder() == Some(OwnerId::PHASE);
        if is_in && !is_shared {
            breaches.add(Breach::Unserved);
        }
        let mut members = self.after.members().iter();
        let mut goes_in = members.any(|member| member.is_live() && !self.was_inside(member.owner));
        goes_in |= self.after.lock.is_some() && !is_shared;
        let mut waiting = self.after.queue.entries().iter();
        let Some(first) = waiting.find(|entry| self.is_there(entry)) else {
            return;
        };
        let mut looked_at = self.before.queue.entries().iter().take(self.walk);
        if !looked_at.any(|entry| entry.owner == first.owner) {
            return;
        }
        let taken = self.after.shares.as_ref().map(Shares::taken);
        let fits = match (self.after.lock, taken, first.share) {
            (None, ..) => true,
            (Some(_), Some(taken), Some(share)) => {
                share.limit == 0 || taken + i32::from(share.take) <= i32::from(share.limit)
            }
            _ => false,
        };
        if fits && !goes_in {
            breaches.add(Breach::Unserved);
        }
    }

    /// A reader that is granted the whole lock admits the others only when it confirms the grant.
    fn audit_end_of_writer(&self, breaches: &mut Breaches) {
        let is_end = matches!(
            self.command,
            Command::End { .. } | Command::ShareEnd { share: None, .. }
        );
        let was_writer = self
            .before
            .holder()
            .is_some_and(|holder| self.command.ended() == Some(holder));
        let is_of_one_reader = self.after.ours().is_some_and(|ours| ours.share.is_some());
        if self.writes && is_end && was_writer && is_of_one_reader {
            breaches.add(Breach::OneReader);
        }
    }

    fn was_inside(&self, owner: OwnerId) -> bool {
        self.before.holder() == Some(owner) || self.before.share(owner).is_some()
    }

    /// Whether a waiter has polled within a claim's time and is reachable.
    fn is_there(&self, entry: &QueueEntry) -> bool {
        let has_polled = entry.live.is_some_and(|live| live > self.silent);
        has_polled && self.receivers & 1 << entry.owner.client != 0
    }

    /// Nobody goes in before an earlier waiter that is present.
    fn audit_order(&self, breaches: &mut Breaches) {
        let stays = |owner: OwnerId| {
            let mut entries = self.after.queue.entries().iter();
            entries.any(|entry| entry.owner == owner)
        };
        let members = self
            .after
            .members()
            .iter()
            .filter(|member| member.is_live());
        let holder = self
            .after
            .holder()
            .filter(|&holder| holder != OwnerId::PHASE);
        let owners = members.map(|member| member.owner).chain(holder);
        for owner in owners.filter(|&owner| !self.was_inside(owner)) {
            let before = self.before.queue.entries().iter();
            let earlier = before.take_while(|entry| entry.owner != owner);
            let mut waiting = earlier.filter(|entry| stays(entry.owner));
            if waiting.any(|entry| self.is_there(entry)) {
                breaches.add(Breach::Overtook);
            }
        }
    }
}
