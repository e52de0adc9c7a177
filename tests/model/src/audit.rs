//! The rules of each script run, seen from outside: they compare the records before and after, and know
//! nothing of how the script works.

mod shares;

use crate::server::{Answer, Command, Fence, Lock, Mode, OwnerId, Records, Token, Value};

/// A rule that a step broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breach {
    /// The lock was taken from its holder by another command than the holder's end.
    Taken,
    /// The lock was made by another command than an acquire.
    MadeAnew,
    /// A lease became shorter.
    Shortened,
    /// A grant's token is not above those of the grant before it.
    TokenFell,
    /// A waiter that polls lost its place.
    LostPlace,
    /// A waiter overtook one that came earlier.
    Overtook,
    /// An ended owner still holds or queues.
    NotEnded,
    /// A waiter queues and the record has no flag.
    Unflagged,
    /// A client sent an acquire of an owner after its end.
    AcquiredAfterEnd,
    /// A body began under a token that is not above those of all bodies before it.
    TurnToken,
    /// More bodies of one process began before the head of the queue than a grant has tokens.
    Bypassed,
    /// A turn began with less than two thirds of its caller's ttl left.
    ShortTurn,
    /// A retained lease was taken after its time.
    TakenLate,
    /// A script failed after it had changed a record.
    HalfDone,
    /// A body began under a token that does not tell its phase from the locks before and after it.
    PhaseToken,
    /// A share was taken off or shortened by another command than its owner's end.
    ShareTaken,
    /// A waiter that fits stays outside, although a share went in or left.
    Unserved,
    /// The end of a holder freed the lock, or handed it on, before its minimum was over.
    FreedEarly,
    /// A renewal failed although its owner shares the lock.
    WronglyLost,
    /// A revocation took another grant than the one that its operator saw.
    WronglyRevoked,
    /// A revocation left a fence below the token that it took.
    TokenForgotten,
}

impl Breach {
    pub(crate) const ALL: [Breach; 21] = [
        Breach::Taken,
        Breach::MadeAnew,
        Breach::Shortened,
        Breach::TokenFell,
        Breach::LostPlace,
        Breach::Overtook,
        Breach::NotEnded,
        Breach::Unflagged,
        Breach::AcquiredAfterEnd,
        Breach::TurnToken,
        Breach::Bypassed,
        Breach::ShortTurn,
        Breach::TakenLate,
        Breach::HalfDone,
        Breach::PhaseToken,
        Breach::ShareTaken,
        Breach::Unserved,
        Breach::FreedEarly,
        Breach::WronglyLost,
        Breach::WronglyRevoked,
        Breach::TokenForgotten,
    ];
}

/// The breaches of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Breaches(u32);

impl Breaches {
    pub(crate) fn add(&mut self, breach: Breach) {
        self.0 |= 1 << breach as u16;
    }

    pub(crate) fn has(self, breach: Breach) -> bool {
        self.0 & (1 << breach as u16) != 0
    }
}

/// One run of a script.
pub(crate) struct AuditedRun<'a> {
    pub(crate) before: &'a Records,
    pub(crate) command: Command,
    pub(crate) answer: Answer,
    pub(crate) after: &'a Records,
    pub(crate) mode: Mode,
    /// One bit for each client that announcements reach.
    pub(crate) receivers: u8,
    /// The highest token that was ever granted; `turns` is how far a grant must be above it.
    pub(crate) last: Token,
    pub(crate) turns: Token,
}

impl AuditedRun<'_> {
    pub(crate) fn audit(&self, breaches: &mut Breaches) {
        self.audit_lock(breaches);
        self.audit_queue(breaches);
        self.audit_shares(breaches);
        self.audit_revocation(breaches);
        let failed = matches!(self.answer, Answer::Refused(_) | Answer::Unavailable);
        if failed && self.before != self.after {
            breaches.add(Breach::HalfDone);
        }
    }

    fn audit_lock(&self, breaches: &mut Breaches) {
        let (before, after) = (self.before.lock, self.after.lock);
        let ended = self.ended();
        let (was, is) = (before.map(who), after.map(who));
        // Whose shares are taken off is checked apart.
        let was_shared = was == Some(Some(OwnerId::PHASE));
        let becomes_share = self.downgrades() && is == Some(Some(OwnerId::PHASE));
        let is_ended = ended.is_some() && ended == self.before.holder();
        if was.is_some()
            && was != is
            && !is_ended
            && !was_shared
            && !becomes_share
            && !self.revokes()
        {
            breaches.add(Breach::Taken);
        }
        // The end of a waiting share serves the next one, also if the lock is free.
        let may_make = matches!(
            self.command,
            Command::Acquire { .. } | Command::ShareAcquire { .. } | Command::ShareEnd { .. }
        );
        if was.is_none() && is.is_some() && !may_make {
            breaches.add(Breach::MadeAnew);
        }
        let rests = before
            .and_then(|lock| lock.rest)
            .zip(after.and_then(|lock| lock.rest));
        // An acquire may find a claim of its own owner, or a lease no longer than it asks for. Whether a
        // holder relies on more is a property of its own.
        let may_shorten = matches!(self.command, Command::Acquire { .. });
        if was == is
            && !was_shared
            && !may_shorten
            && rests.is_some_and(|(before, after)| after < before)
        {
            breaches.add(Breach::Shortened);
        }
        // A lock that a plain script granted to a share keeps its token when the share is confirmed.
        let is_confirmed = becomes_share
            && token(before) == token(after)
            && matches!(
                before.map(|lock| lock.value),
                Some(Value::Ours { share: Some(_), .. })
            );
        let rests = is == Some(Some(OwnerId::REST));
        let is_granted = is != was && !rests || was_shared && token(before) != token(after);
        if is.is_some()
            && is_granted
            && !is_confirmed
            && let Some(token) = token(after)
            && token < self.last + self.turns
        {
            breaches.add(Breach::TokenFell);
        }
        // A queue that cannot be read has no entries to remove or to flag.
        if self.mode != Mode::Normal {
            return;
        }
        if let Command::End { owner, .. } | Command::ShareEnd { owner, .. } = self.command
            && self.after.names(owner)
        {
            breaches.add(Breach::NotEnded);
        }
        let queues = matches!(
            self.command,
            Command::Acquire { .. }
                | Command::End { .. }
                | Command::ShareAcquire { .. }
                | Command::ShareEnd { .. }
        );
        if let (true, Some(lock)) = (queues, after)
            && matches!(lock.value, Value::Ours { flagged: false, .. })
            && !self.after.queue.entries().is_empty()
        {
            breaches.add(Breach::Unflagged);
        }
    }

    /// Whether a lock is taken from its holder by an operator.
    fn revokes(&self) -> bool {
        let is_done = matches!(self.answer, Answer::Code(1..));
        is_done && matches!(self.command, Command::Revoke { .. })
    }

    fn audit_revocation(&self, breaches: &mut Breaches) {
        let Command::Revoke { seen } = self.command else {
            return;
        };
        let is_of = |token: Token| (token..token + self.turns).contains(&seen);
        let is_seen = token(self.before.lock).is_some_and(is_of);
        if self.revokes() && !is_seen || self.before != self.after && !self.revokes() {
            breaches.add(Breach::WronglyRevoked);
        }
        let fence = match self.after.fence {
            Some(Fence::Token { token, .. }) => Some(token),
            _ => None,
        };
        if self.revokes() && fence < token(self.before.lock) {
            breaches.add(Breach::TokenForgotten);
        }
    }

    fn audit_queue(&self, breaches: &mut Breaches) {
        let ended = match self.command {
            Command::End { owner, .. } | Command::ShareEnd { owner, .. } => Some(owner),
            _ => None,
        };
        let entries = self.after.queue.entries();
        let stays = |owner: OwnerId| entries.iter().any(|entry| entry.owner == owner);
        for entry in self.before.queue.entries() {
            let served =
                self.after.holder() == Some(entry.owner) || self.after.share(entry.owner).is_some();
            if entry.is_live() && !stays(entry.owner) && !served && ended != Some(entry.owner) {
                breaches.add(Breach::LostPlace);
            }
        }
        // Entries that stay come first, in their order, and new ones behind them.
        let before = self.before.queue.entries().iter();
        let stayed = before.filter(|entry| stays(entry.owner));
        let in_order = stayed
            .zip(entries)
            .all(|(before, after)| before.owner == after.owner);
        if !in_order {
            breaches.add(Breach::Overtook);
        }
    }
}

/// The owner of a lock; the holder of a foreign lock has no id.
fn who(lock: Lock) -> Option<OwnerId> {
    match lock.value {
        Value::Ours { owner, .. } => Some(owner),
        Value::Foreign | Value::WrongType => None,
    }
}

fn token(lock: Option<Lock>) -> Option<Token> {
    match lock?.value {
        Value::Ours { token, .. } => Some(token),
        Value::Foreign | Value::WrongType => None,
    }
}
