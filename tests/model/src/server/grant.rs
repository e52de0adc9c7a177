//! The choice of the next holder and the grant, as in `grant.lua`.

use super::script::Script;
use super::{
    Answer, Branch, Fence, Lock, Ours, OwnerId, Queue, QueueEntry, Share, Ticks, Token, Value,
};
use crate::seeded::Seeded;

impl Script<'_> {
    /// Sets the flag of the record and announces it to the holder: a waiter queues.
    pub(super) fn set_flag(&mut self) {
        if let Some(ours) = self.records.ours_mut()
            && !std::mem::replace(&mut ours.flagged, true)
        {
            let owner = ours.owner;
            self.taken.insert(Branch::AcquireSetsTheFlag);
            if self.site.has_receiver(owner) {
                self.announced.push(owner);
            }
        }
    }

    /// The entry to grant the lock (`me` needs no announcement), and the entries to remove.
    pub(super) fn choose(
        &mut self,
        me: Option<OwnerId>,
        ended: Option<OwnerId>,
    ) -> (Option<OwnerId>, Vec<OwnerId>) {
        let mut removed = Vec::new();
        for entry in self.records.queue.entries() {
            if Some(entry.owner) == me {
                return (me, removed);
            }
            let dropped = if Some(entry.owner) == ended {
                Branch::WalkDropsTheEnded
            } else if entry.live.is_none() {
                Branch::WalkDropsWithoutHeartbeat
            } else if !entry.is_live() {
                Branch::WalkDropsTheDead
            } else if self.site.has_receiver(entry.owner) {
                self.announced.push(entry.owner);
                return (Some(entry.owner), removed);
            } else {
                self.taken.insert(Branch::WalkSkipsTheUnreachable);
                if self.rules.seeded == Some(Seeded::UnreachableDropped) {
                    removed.push(entry.owner);
                }
                continue;
            };
            self.taken.insert(dropped);
            removed.push(entry.owner);
        }
        (None, removed)
    }

    pub(super) fn grant(&mut self, owner: OwnerId, rest: Ticks) -> Answer {
        let token = self.new_token();
        let entry = self
            .place(owner)
            .map(|place| self.records.queue.entries()[place]);
        self.drop_entries(&[owner]);
        self.write_entry(owner, entry.and_then(|entry| entry.share), rest, token)
    }

    pub(super) fn new_token(&mut self) -> Token {
        self.new_token_of(self.site.now)
    }

    /// The token of a holder that was granted the lock at this time.
    pub(super) fn new_token_of(&mut self, granted_at: Token) -> Token {
        let mut token = self.records.last_token() + self.rules.turns;
        if !self.is_seeded(Seeded::TokenFromFence) {
            token = token.max(granted_at);
        }
        self.taken.insert(if token == granted_at {
            Branch::TokenIsTheTime
        } else {
            Branch::TokenCountsOn
        });
        if !self.is_seeded(Seeded::FenceByRelease) {
            // Kept from now on, even if the token is of an earlier time.
            self.keep_fence(token, token.max(self.site.now));
        }
        token
    }

    pub(super) fn set_fence(&mut self, token: Token) {
        self.keep_fence(token, token);
    }

    /// Sets the fence, which expires its time after `from`.
    fn keep_fence(&mut self, token: Token, from: Token) {
        let ahead = (from / 1_000 - self.site.now / 1_000) as Ticks;
        let rest = self.rules.fence.map(|rest| rest + ahead);
        // The token of a revoked lock may be older than the retention of fences.
        let is_over = rest.is_some_and(|rest| rest <= 0);
        self.records.fence = (!is_over).then_some(Fence::Token { token, rest });
    }

    pub(super) fn fence_by_release(&mut self) {
        if self.is_seeded(Seeded::FenceByRelease)
            && let Some(ours) = self.records.ours()
        {
            self.set_fence(self.records.last_token().max(ours.token));
        }
    }

    pub(super) fn write(&mut self, owner: OwnerId, rest: Ticks, token: Token) -> Answer {
        self.write_entry(owner, None, rest, token)
    }

    fn write_entry(
        &mut self,
        owner: OwnerId,
        share: Option<Share>,
        rest: Ticks,
        token: Token,
    ) -> Answer {
        let flagged = !self.records.queue.entries().is_empty();
        self.records.lock = Some(Lock {
            value: Value::Ours(Ours {
                owner,
                flagged,
                token,
                count: u8::from(self.rules.seeded == Some(Seeded::RemoteCount)),
                share,
            }),
            rest: Some(rest),
        });
        self.held()
    }

    pub(super) fn enqueue(&mut self, owner: OwnerId) {
        self.enqueue_entry(owner, None);
    }

    pub(super) fn enqueue_entry(&mut self, owner: OwnerId, share: Option<Share>) {
        let live = Some(self.rules.live);
        let place = self.place(owner);
        let Queue::Waiters { entries, rest } = &mut self.records.queue else {
            unreachable!("a queue of a wrong type is refused before");
        };
        *rest = self.rules.queue;
        match place {
            Some(place) => entries[place].live = live,
            None => entries.push(QueueEntry { owner, live, share }),
        }
    }

    pub(super) fn drop_entries(&mut self, owners: &[OwnerId]) {
        for &owner in owners {
            if let Some(place) = self.place(owner)
                && let Queue::Waiters { entries, .. } = &mut self.records.queue
            {
                entries.remove(place);
                if entries.is_empty() {
                    self.records.queue = Queue::default();
                }
            }
        }
    }

    pub(super) fn place(&self, owner: OwnerId) -> Option<usize> {
        let keyed_by_process = self.rules.seeded == Some(Seeded::ProcessKeyed);
        let mut entries = self.records.queue.entries().iter();
        entries.position(|entry| {
            entry.owner == owner || keyed_by_process && entry.owner.client == owner.client
        })
    }
}
