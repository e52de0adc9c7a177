//! The common part of the scripts of shares: reads a phase, walks the queue, and writes a phase.

use super::script::Script;
use super::{
    Answer, Branch, Fence, Lock, Member, Mode, Ours, OwnerId, Queue, QueueEntry, Refusal, Share,
    Shares, Ticks, Token, Value,
};
use crate::seeded::Seeded;

/// How much of a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Nothing: an exclusive owner may have the lock, too.
    Free,
    Taken(i32),
    /// R is gone: its shares last until K expires, and no share joins.
    Unknown,
}

impl Room {
    fn taken(self) -> i32 {
        match self {
            Room::Taken(sum) => sum,
            Room::Free | Room::Unknown => 0,
        }
    }
}

/// A phase as recorded in K and R.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    /// The sum, without the lapsed shares that are listed here.
    pub(super) room: Room,
    /// Lapsed shares: the first of them, and the sender's.
    pub(super) lapsed: Vec<Member>,
}

impl Phase {
    /// The sum of the lapsed shares.
    pub(super) fn freed(&self) -> usize {
        self.lapsed
            .iter()
            .map(|member| usize::from(member.take))
            .sum()
    }

    /// Whether every share has lapsed.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.room, Room::Taken(sum) if sum <= 0)
    }
}

/// The waiters that a walk of the queue serves.
#[derive(Clone, Debug, Default)]
pub(super) struct Walked {
    pub(super) shares: Vec<(OwnerId, Share)>,
    /// The sum that includes them.
    pub(super) sum: i32,
    /// The exclusive waiter that is served, instead of shares.
    pub(super) head: Option<OwnerId>,
    /// The entries that leave the queue: dead waiters, and served ones.
    pub(super) gone: Vec<OwnerId>,
    /// A waiter remains that nobody may overtake.
    pub(super) blocked: bool,
}

impl Walked {
    pub(super) fn serves(&self, owner: OwnerId) -> bool {
        self.shares.iter().any(|&(served, _)| served == owner)
    }
}

impl Script<'_> {
    pub(super) fn is_phase(&self) -> bool {
        self.records.holder() == Some(OwnerId::PHASE)
    }

    /// The phase, if K is shared; a lapsed share of `own` is listed even if it is not among the first.
    pub(super) fn phase(&self, own: OwnerId, take: u8) -> Result<Option<Phase>, Refusal> {
        if !self.is_phase() {
            return Ok(None);
        }
        let (members, sum) = match &self.records.shares {
            None => {
                return Ok(Some(Phase {
                    room: Room::Unknown,
                    lapsed: Vec::new(),
                }));
            }
            Some(Shares::WrongType) => return Err(Refusal::WrongType),
            Some(Shares::Counted { members, sum, .. }) => (members, *sum),
        };
        let mut lapsed: Vec<Member> = members.iter().filter(|m| !m.is_live()).copied().collect();
        lapsed.sort_by_key(|member| (member.rest, member.owner));
        let is_own = |member: &Member| (member.owner, member.take) == (own, take);
        let mine = lapsed
            .iter()
            .skip(self.rules.shares.walk)
            .find(|m| is_own(m));
        let mine = mine.copied();
        lapsed.truncate(self.rules.shares.walk);
        lapsed.extend(mine);
        let mut phase = Phase {
            room: Room::Taken(sum),
            lapsed,
        };
        if !self.is_seeded(Seeded::LapsedCounted) {
            phase.room = Room::Taken(sum - phase.freed() as i32);
        }
        Ok(Some(phase))
    }

    /// The share of `owner`, lapsed or not.
    pub(super) fn member(&self, owner: OwnerId, take: u8) -> Option<Member> {
        let mut members = self.records.all_members().iter();
        members
            .find(|member| (member.owner, member.take) == (owner, take))
            .copied()
    }

    /// When the last share lapses.
    pub(super) fn last_rest(&self) -> Ticks {
        let members = self.records.all_members().iter();
        members.map(|member| member.rest).max().unwrap_or(0)
    }

    pub(super) fn has_bad_fence(&self) -> bool {
        matches!(self.records.fence, Some(Fence::WrongType | Fence::Text))
    }

    pub(super) fn fits(&self, room: Room, taken: i32, share: Share) -> bool {
        let is_unlimited = share.limit == 0 || self.is_seeded(Seeded::LimitIgnored);
        room != Room::Unknown
            && (is_unlimited || taken + i32::from(share.take) <= i32::from(share.limit))
    }

    pub(super) fn counted(&self, share: Share) -> i32 {
        if self.is_seeded(Seeded::TakeCountedAsOne) {
            1
        } else {
            i32::from(share.take)
        }
    }

    /// Whether a waiter is present, so that it can go in now or as soon as it fits: it has polled
    /// within the time of a claim, and its process is reachable.
    fn is_there(&self, entry: &QueueEntry) -> bool {
        let silent = self.rules.live - self.rules.claim;
        let is_there =
            entry.live.is_some_and(|live| live > silent) && self.site.has_receiver(entry.owner);
        is_there || self.is_seeded(Seeded::AbsentKeepsPlace)
    }

    /// Chooses the waiters to serve, from the head: at most `batch` shares, plus `me`, which needs
    /// no announcement. From its `place`, `me` leaves a window of shares before it to the waiters
    /// in between. The first waiter that is present and cannot go in ends the walk. The entry of
    /// `ended` is dropped.
    pub(super) fn walk(
        &mut self,
        room: Room,
        me: Option<OwnerId>,
        place: Option<usize>,
        ended: Option<OwnerId>,
        batch: usize,
    ) -> Walked {
        let mut walked = Walked {
            sum: room.taken(),
            ..Walked::default()
        };
        if self.records.queue == Queue::WrongType {
            walked.blocked = true;
            return walked;
        }
        let entries = self.records.queue.entries().to_vec();
        let walk = self.rules.shares.walk;
        let window = self.rules.shares.window;
        for (checked, &entry) in entries.iter().take(walk).enumerate() {
            let is_mine = Some(entry.owner) == me;
            if Some(entry.owner) == ended || !is_mine && !entry.is_live() {
                self.taken.insert(Branch::ShareWalkDrops);
                walked.gone.push(entry.owner);
                continue;
            }
            if !is_mine && !self.is_there(&entry) {
                self.taken.insert(Branch::ShareWalkSkipsTheAbsent);
                continue;
            }
            let fits = match entry.share {
                Some(share) => self.fits(room, walked.sum, share),
                None => room == Room::Free && walked.sum == 0,
            };
            let is_far = place.is_some_and(|place| place.saturating_sub(checked) >= window);
            if !fits || !is_mine && (is_far || walked.shares.len() >= batch) {
                self.taken.insert(match (fits, entry.share) {
                    (true, _) => Branch::ShareWalkFillsTheWindow,
                    (false, Some(_)) => Branch::ShareWalkStopsAtAShare,
                    (false, None) => Branch::ShareWalkStopsAtALock,
                });
                walked.blocked = true;
                return walked;
            }
            if !is_mine {
                self.announced.push(entry.owner);
            }
            walked.gone.push(entry.owner);
            let Some(share) = entry.share else {
                walked.head = Some(entry.owner);
                walked.blocked = true;
                return walked;
            };
            let goes_on = matches!(room, Room::Taken(_)) && self.is_phase();
            let member = self.member(entry.owner, share.take);
            if goes_on && member.is_some_and(|member| member.is_live()) {
                // As after a failover that restores an old queue.
                continue;
            }
            walked.shares.push((entry.owner, share));
            walked.sum += self.counted(share);
        }
        walked.blocked = entries.len() >= walk;
        walked
    }

    /// Writes a phase: a new one if `token` is given, else the current one. `me` goes in for its
    /// ttl, the others for a claim.
    pub(super) fn settle(
        &mut self,
        walked: &Walked,
        lapsed: &[Member],
        token: Option<Token>,
        me: Option<(OwnerId, Ticks)>,
    ) -> Result<(), Answer> {
        self.drop_entries(&walked.gone);
        let is_new = token.is_some();
        if is_new && self.is_seeded(Seeded::SharesNamedAgain) && self.site.mode == Mode::Migrating {
            self.records.shares = None;
            return Err(Answer::Unavailable);
        }
        let old = self.records.shares.take();
        let (mut members, mut sum) = match old {
            Some(Shares::Counted { members, sum, .. }) => (members, sum),
            _ => (Vec::new(), 0),
        };
        if is_new {
            sum = 0;
            if !self.is_seeded(Seeded::SharesKept) {
                members.clear();
            }
        }
        members.retain(|member| {
            let is_lapsed = lapsed.contains(member);
            if is_lapsed && !is_new && !self.is_seeded(Seeded::LapsedCounted) {
                sum -= i32::from(member.take);
            }
            !is_lapsed
        });
        for &(owner, share) in &walked.shares {
            let rest = match me {
                Some((me, ttl)) if me == owner => ttl,
                _ => self.rules.claim,
            };
            let before = members.len();
            members.retain(|member| (member.owner, member.take) != (owner, share.take));
            // The sum still contains the owner's lapsed share, if the script did not examine that
            // many.
            if members.len() == before || self.is_seeded(Seeded::CountedTwice) {
                sum += self.counted(share);
            }
            members.push(Member {
                owner,
                take: share.take,
                rest,
            });
        }
        let rest = members.iter().map(|member| member.rest).max().unwrap_or(0);
        if rest <= 0 {
            self.records.lock = None;
            return Ok(());
        }
        let rest = rest + self.rules.shares.rounding;
        let counted = Shares::Counted { members, sum, rest };
        self.records.shares = Some(counted);
        let flagged =
            self.records.queue == Queue::WrongType || !self.records.queue.entries().is_empty();
        let before = self.records.lock.filter(|_| !is_new);
        let before = before.and_then(|lock| lock.rest);
        let kept = before.filter(|&before| {
            let (longer, shorter) = (Seeded::JoinKeepsExpiry, Seeded::ExpiryNotLowered);
            self.is_seeded(if rest > before { longer } else { shorter })
        });
        let goes_on = || self.records.ours().expect("a phase that goes on").token;
        self.records.lock = Some(Lock {
            value: Value::Ours(Ours {
                owner: OwnerId::PHASE,
                flagged,
                token: token.unwrap_or_else(goes_on),
                count: 0,
                share: None,
            }),
            rest: kept.or(Some(rest)),
        });
        Ok(())
    }

    /// Sets when K and R expire.
    pub(super) fn expire_in(&mut self, rest: Ticks) {
        let rest = rest + self.rules.shares.rounding;
        if let Some(lock) = &mut self.records.lock {
            lock.rest = Some(rest);
        }
        if let Some(Shares::Counted {
            rest: of_shares, ..
        }) = &mut self.records.shares
        {
            *of_shares = rest;
        }
    }
}
