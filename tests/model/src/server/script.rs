//! One run of one script.

use super::{Answer, Entry, Lock, Mode, Owner, Records, Rules, Site, Ticks, Token, Value};
use crate::seeded::Seeded;

/// A run under way.
pub(super) struct Script<'a> {
    records: &'a mut Records,
    rules: &'a Rules,
    site: &'a Site,
    told: Vec<Owner>,
}

impl<'a> Script<'a> {
    pub(super) fn new(records: &'a mut Records, rules: &'a Rules, site: &'a Site) -> Script<'a> {
        Script {
            records,
            rules,
            site,
            told: Vec::new(),
        }
    }

    /// Who was told of something.
    pub(super) fn told(self) -> Vec<Owner> {
        self.told
    }

    pub(super) fn has_all_keys(&self) -> bool {
        let records = &self.records;
        records.lock.is_some() && records.fence.is_some() && !records.queue.is_empty()
    }

    pub(super) fn acquire(&mut self, me: Owner, ttl: Ticks, queues: bool) -> Answer {
        if self.records.holder() == Some(me) {
            if self.rules.seeded == Some(Seeded::RemoteCount) {
                self.count(1);
            }
            return self.confirm(ttl, false);
        }
        if matches!(self.site.mode, Mode::FenceWrong | Mode::QueueWrong) {
            return Answer::Refused;
        }
        if self.rules.seeded == Some(Seeded::FenceByAttempt) && self.records.lock.is_some() {
            self.records.fence = Some(self.site.now);
        }
        if self.records.lock.is_none() {
            let (head, gone) = self.choose(Some(me), None);
            if self.site.mode == Mode::OutOfMemory {
                return Answer::Refused;
            }
            self.drop_entries(&gone);
            let Some(head) = head.filter(|&head| head != me) else {
                return self.give(me, ttl);
            };
            // First, so that the record says from the beginning that somebody queues.
            if queues {
                self.enqueue(me);
            }
            self.give(head, self.rules.claim);
        } else if queues {
            if self.site.mode == Mode::OutOfMemory {
                return Answer::Refused;
            }
            self.enqueue(me);
            if let Some(Lock {
                value: Value::Ours { owner, flagged, .. },
                ..
            }) = &mut self.records.lock
                && !std::mem::replace(flagged, true)
                && self.site.hears(*owner)
            {
                self.told.push(*owner);
            }
        }
        let place = self.place(me).map_or(0, |place| place as u8 + 1);
        Answer::Waiting { position: place }
    }

    pub(super) fn renew(&mut self, me: Owner, ttl: Ticks) -> Answer {
        match self.rules.seeded {
            Some(Seeded::RenewSetsAnew) if self.records.lock.is_none() => {
                let token = self.records.fence.unwrap_or(0);
                return self.write(me, ttl, token);
            }
            Some(Seeded::RenewShortens) if self.records.holder() == Some(me) => {
                if let Some(lock) = &mut self.records.lock {
                    lock.rest = Some(ttl);
                }
            }
            _ => {}
        }
        if self.records.holder() == Some(me) {
            self.confirm(ttl, true)
        } else {
            Answer::Nil
        }
    }

    pub(super) fn release(&mut self, me: Owner) -> Answer {
        let anyone = self.rules.seeded == Some(Seeded::NoOwnerCompare);
        match self.records.lock {
            None => Answer::Code(0),
            Some(Lock {
                value: Value::Ours { owner, flagged, .. },
                ..
            }) if owner == me || anyone => {
                self.fence_by_release();
                if flagged {
                    return Answer::Code(2);
                }
                if !self.counts_down() {
                    self.records.lock = None;
                }
                Answer::Code(1)
            }
            Some(_) => Answer::Code(-1),
        }
    }

    pub(super) fn delete(&mut self, me: Owner, granted: Token) -> Answer {
        match self.records.lock.map(|lock| lock.value) {
            Some(Value::Ours {
                owner,
                flagged: false,
                token,
                ..
            }) if (owner, token) == (me, granted) => {
                self.records.lock = None;
                Answer::Code(1)
            }
            _ => Answer::Code(2),
        }
    }

    pub(super) fn end(&mut self, me: Owner, next: Option<(Owner, Ticks)>) -> Answer {
        let anyone = self.rules.seeded == Some(Seeded::NoOwnerCompare);
        if self.records.holder() != Some(me) && !(anyone && self.records.holder().is_some()) {
            if self.site.mode == Mode::QueueWrong {
                return Answer::Refused;
            }
            let left = self.place(me).is_some();
            self.drop_entries(&[me]);
            return match next {
                Some((next, ttl)) if self.records.holder() == Some(next) => self.confirm(ttl, true),
                _ if left => Answer::Code(3),
                _ if self.records.lock.is_some() => Answer::Code(-1),
                _ => Answer::Code(0),
            };
        }
        if self.counts_down() {
            return Answer::Code(1);
        }
        self.fence_by_release();
        if matches!(self.site.mode, Mode::FenceWrong | Mode::QueueWrong) {
            self.records.lock = None;
            return Answer::Code(1);
        }
        let heir = next.map(|(next, _)| next);
        let (head, gone) = self.choose(heir, Some(me));
        let handed_on = head.filter(|&head| Some(head) != heir);
        if self.rules.seeded == Some(Seeded::NamesRemoved) {
            self.drop_entries(&[me]);
            self.drop_entries(&gone);
            self.drop_entries(head.as_slice());
            if self.site.mode == Mode::Migrating && self.records.queue.is_empty() {
                return Answer::Unavailable;
            }
        }
        if let (Some(_), Some(heir)) = (handed_on, heir) {
            self.enqueue(heir);
        }
        self.drop_entries(&[me]);
        self.drop_entries(&gone);
        match (handed_on, next) {
            (Some(head), _) => {
                self.give(head, self.rules.claim);
                Answer::Code(2)
            }
            (_, Some((next, ttl))) => self.give(next, ttl),
            _ => {
                self.records.lock = None;
                Answer::Code(1)
            }
        }
    }

    /// Sets the lease, or, if it `only_raises`, lengthens it; gives back an expiry that was taken away.
    fn confirm(&mut self, ttl: Ticks, only_raises: bool) -> Answer {
        let lock = self.records.lock.as_mut().expect("it is held");
        let least = lock.rest.filter(|_| only_raises).unwrap_or(ttl);
        lock.rest = Some(least.max(ttl));
        self.held()
    }

    fn held(&self) -> Answer {
        match self.records.lock.map(|lock| lock.value) {
            Some(Value::Ours { flagged, token, .. }) => Answer::Held { flagged, token },
            other => unreachable!("{other:?} is not held"),
        }
    }

    /// Who is to be served (`me` needs no announcement), and which entries are to go.
    fn choose(&mut self, me: Option<Owner>, ended: Option<Owner>) -> (Option<Owner>, Vec<Owner>) {
        let mut gone = Vec::new();
        for entry in &self.records.queue {
            if Some(entry.owner) == me {
                return (me, gone);
            }
            if Some(entry.owner) == ended || entry.live == 0 {
                gone.push(entry.owner);
            } else if self.site.hears(entry.owner) {
                self.told.push(entry.owner);
                return (Some(entry.owner), gone);
            } else if self.rules.seeded == Some(Seeded::UnheardDropped) {
                gone.push(entry.owner);
            }
        }
        (None, gone)
    }

    fn give(&mut self, owner: Owner, rest: Ticks) -> Answer {
        let mut token = self.records.fence.unwrap_or(0) + self.rules.turns;
        if self.rules.seeded != Some(Seeded::TokenFromFence) {
            token = token.max(self.site.now);
        }
        if self.rules.seeded != Some(Seeded::FenceByRelease) {
            self.records.fence = Some(token);
        }
        self.drop_entries(&[owner]);
        self.write(owner, rest, token)
    }

    fn fence_by_release(&mut self) {
        if self.rules.seeded == Some(Seeded::FenceByRelease)
            && let Some(Value::Ours { token, .. }) = self.records.lock.map(|lock| lock.value)
        {
            self.records.fence = self.records.fence.max(Some(token));
        }
    }

    fn write(&mut self, owner: Owner, rest: Ticks, token: Token) -> Answer {
        let flagged = !self.records.queue.is_empty();
        self.records.lock = Some(Lock {
            value: Value::Ours {
                owner,
                flagged,
                token,
                count: u8::from(self.rules.seeded == Some(Seeded::RemoteCount)),
            },
            rest: Some(rest),
        });
        self.held()
    }

    fn enqueue(&mut self, owner: Owner) {
        let live = self.rules.live;
        match self.place(owner) {
            Some(place) => self.records.queue[place].live = live,
            None => self.records.queue.push(Entry { owner, live }),
        }
    }

    fn drop_entries(&mut self, owners: &[Owner]) {
        for &owner in owners {
            if let Some(place) = self.place(owner) {
                self.records.queue.remove(place);
            }
        }
    }

    fn place(&self, owner: Owner) -> Option<usize> {
        let keyed_by_process = self.rules.seeded == Some(Seeded::ProcessKeyed);
        self.records.queue.iter().position(|entry| {
            entry.owner == owner || keyed_by_process && entry.owner.client == owner.client
        })
    }

    fn counts_down(&mut self) -> bool {
        if self.rules.seeded != Some(Seeded::RemoteCount) {
            return false;
        }
        let Some(Lock {
            value: Value::Ours { count, .. },
            ..
        }) = self.records.lock
        else {
            return false;
        };
        if count > 1 {
            self.count(-1);
        }
        count > 1
    }

    fn count(&mut self, by: i8) {
        if let Some(Lock {
            value: Value::Ours { count, .. },
            ..
        }) = &mut self.records.lock
        {
            *count = count.saturating_add_signed(by).min(3);
        }
    }
}
