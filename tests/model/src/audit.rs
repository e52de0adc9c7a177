//! The rules of each script run, seen from outside: they compare the records before and after, and
//! know nothing of the script's code.

mod shares;

use crate::server::{Answer, Command, Fence, Mode, OwnerId, Records, Ticks, Token};

macro_rules! breaches {
    ($($breach:ident: $rule:literal;)+) => {
        /// A rule that a step broke.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Breach {
            $(#[doc = $rule] $breach,)+
        }

        impl Breach {
            pub(crate) const ALL: &[Breach] = &[$(Breach::$breach),+];

            /// The rule that the breach breaks.
            pub const fn rule(self) -> &'static str {
                match self {
                    $(Breach::$breach => $rule,)+
                }
            }
        }
    };
}

breaches! {
    Taken: "a lock changes hands only by its holder's end or by expiry";
    MadeAnew: "only an acquire makes a lock";
    Shortened: "no lease is shortened";
    TokenFell: "tokens rise with every grant";
    LostPlace: "a waiter that polls keeps its place";
    Overtook: "waiters queue in order of arrival";
    NotEnded: "an ended owner neither holds nor queues";
    Unflagged: "the record of a lock with a queue has the flag";
    AcquiredAfterEnd: "no owner acquires after its end";
    TurnToken: "tokens rise with every body";
    Bypassed: "no process overtakes the head of the queue more often than a grant has tokens";
    ShortTurn: "a turn begins with two thirds of its caller's ttl left";
    TakenLate: "a retained lease is taken in its time or not at all";
    HalfDone: "a script that fails changes nothing";
    PhaseToken: "a phase's token is above those of all locks before it and below those after it";
    ShareTaken: "a share ends only by its owner's end or by its lapse";
    Unserved: "a share that goes in or leaves lets in the first waiter that fits";
    OneReader: "a writer's end lets in all readers that are next, and not one of them";
    FreedEarly: "no end frees a lock before its minimum is over";
    WronglyLost: "a renewal fails only if its owner does not have the lock";
    WronglyRevoked: "a revocation takes the grant that its operator saw, or changes nothing";
    Minted: "a mint gives the holder that asks a token, or changes nothing";
    Barged: "a plain command takes a lock past a live waiter only after a holder lost it";
    Misreported: "a release reports that it freed the lock only if it did, and that it had lost it only if it had";
    OutOfOrder: "a caller that waits for a lock holds none after it";
    LaterUnseen: "an answer to a poll says if its owner has a lock behind the one in the way";
    PartRenewed: "a renewal is confirmed only if its owner has all locks";
    TokenForgotten: "a revocation leaves no fence below the token that it took";
    LateToken: "a token that a mint or a downgrade gives is not above those of later grants, on any server";
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
    /// A waiter with at most this remaining life has not polled within a claim's time.
    pub(crate) silent: Ticks,
    /// How many waiters a script examines.
    pub(crate) walk: usize,
    /// Exclusive owners are writers.
    pub(crate) writes: bool,
    /// The highest token that this server should know of; `turns` is the least distance of the next
    /// grant.
    pub(crate) last: Token,
    /// The highest token that was ever granted, on any server.
    pub(crate) highest: Token,
    /// The present time of all clocks that are not behind.
    pub(crate) now: Token,
    pub(crate) turns: Token,
}

impl AuditedRun<'_> {
    pub(crate) fn audit(&self, breaches: &mut Breaches) {
        self.audit_lock(breaches);
        self.audit_queue(breaches);
        self.audit_shares(breaches);
        self.audit_revocation(breaches);
        self.audit_mint(breaches);
        self.audit_late_token(breaches);
        let failed = matches!(self.answer, Answer::Refused(_) | Answer::Unavailable);
        if failed && self.before != self.after {
            breaches.add(Breach::HalfDone);
        }
    }

    fn audit_lock(&self, breaches: &mut Breaches) {
        let (before, after) = (self.before.lock, self.after.lock);
        let ended = self.command.ended();
        // The holder of a foreign lock has no id.
        let was = before.map(|_| self.before.holder());
        let is = after.map(|_| self.after.holder());
        // Another rule checks whose shares are removed.
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
        // When a waiting share ends, the next waiter is served, even if the lock is free.
        let may_make = matches!(
            self.command,
            Command::Acquire { .. }
                | Command::Take { .. }
                | Command::ShareAcquire { .. }
                | Command::ShareEnd { .. }
        );
        if was.is_none() && is.is_some() && !may_make {
            breaches.add(Breach::MadeAnew);
        }
        let reserves = before
            .and_then(|lock| lock.rest)
            .zip(after.and_then(|lock| lock.rest));
        // An acquire may find a claim of its own owner, or a lease no longer than the requested
        // one. A separate property checks how long a holder relies on it.
        let may_shorten = matches!(self.command, Command::Acquire { .. });
        if was == is
            && !was_shared
            && !may_shorten
            && reserves.is_some_and(|(before, after)| after < before)
        {
            breaches.add(Breach::Shortened);
        }
        // A lock that a plain script granted to a share keeps its token when the share is confirmed.
        let is_confirmed = becomes_share
            && token(self.before) == token(self.after)
            && self.before.ours().is_some_and(|ours| ours.share.is_some());
        let reserves = is == Some(Some(OwnerId::RESERVED));
        let is_minted = self.command_mints() && self.before != self.after;
        let is_granted = is != was && !reserves
            || was_shared && token(self.before) != token(self.after)
            || is_minted;
        if is.is_some()
            && is_granted
            && !is_confirmed
            && let Some(token) = token(self.after)
            && (token > 0 || is_minted)
            && token < self.lowest()
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
                | Command::Downgrade { .. }
                | Command::ShareEnd { .. }
        );
        if queues && is_unflagged(self.after) && !self.stays_unflagged() {
            breaches.add(Breach::Unflagged);
        }
    }

    /// The lowest token that is above all earlier ones. Those that were given since the holder's grant are no earlier
    /// ones: by another server to another holder, or by that server to the same one.
    fn lowest(&self) -> Token {
        match self.of_the_grant() {
            Some(token) if token <= self.last => token,
            _ => self.last + self.turns,
        }
    }

    /// The token that a holder should get from a mint or a downgrade: the time of its grant, or the next one after the
    /// token that it has.
    fn of_the_grant(&self) -> Option<Token> {
        match (self.command, token(self.before)) {
            (Command::Downgrade { .. }, _) if !self.downgrades() => None,
            (Command::Downgrade { .. }, Some(token @ 1..)) => Some(token + self.turns),
            (Command::Mint { age, .. } | Command::Downgrade { age, .. }, _) => Some(self.now - age),
            _ => None,
        }
    }

    /// Whether an operator takes the lock from its holder.
    fn revokes(&self) -> bool {
        let is_done = matches!(self.answer, Answer::Code(1..));
        is_done
            && matches!(
                self.command,
                Command::Revoke { .. } | Command::RevokeOwner { .. }
            )
    }

    fn command_mints(&self) -> bool {
        matches!(self.command, Command::Mint { .. })
    }

    /// Whether the lock was taken past its queue before, and the command leaves the flag to the
    /// next waiter that polls.
    fn stays_unflagged(&self) -> bool {
        is_unflagged(self.before) && self.before.holder() == self.after.holder() && !self.polls()
    }

    /// Whether the command is a waiter's poll. A late copy of an attempt that did not queue is none,
    /// even if a caller that waits has taken the owner over since.
    fn polls(&self) -> bool {
        let queues = matches!(
            self.command,
            Command::Acquire { queue: true, .. } | Command::ShareAcquire { queue: true, .. }
        );
        queues && matches!(self.answer, Answer::Waiting { position: 1.., .. })
    }

    fn audit_mint(&self, breaches: &mut Breaches) {
        let Command::Mint { owner, .. } = self.command else {
            return;
        };
        let mut expected = self.before.clone();
        if let Some(ours) = expected.ours_mut()
            && ours.token == 0
            && ours.owner == owner
            && let Some(minted) = token(self.after)
        {
            ours.token = minted;
            expected.fence = self.after.fence;
        }
        if expected != *self.after {
            breaches.add(Breach::Minted);
        }
    }

    fn audit_late_token(&self, breaches: &mut Breaches) {
        let Some(own) = self.of_the_grant() else {
            return;
        };
        let is_late = token(self.after).is_some_and(|token| token > own);
        if is_late && self.highest > own && self.before != self.after {
            breaches.add(Breach::LateToken);
        }
    }

    fn audit_revocation(&self, breaches: &mut Breaches) {
        let is_seen = match self.command {
            Command::Revoke { seen } => token(self.before)
                .is_some_and(|token| token > 0 && (token..token + self.turns).contains(&seen)),
            Command::RevokeOwner { owner } => self.before.holder() == Some(owner),
            _ => return,
        };
        if self.revokes() && !is_seen || self.before != self.after && !self.revokes() {
            breaches.add(Breach::WronglyRevoked);
        }
        let fence = match self.after.fence {
            Some(Fence::Token { token, .. }) => Some(token),
            _ => None,
        };
        let taken = token(self.before).filter(|&token| token > 0);
        if self.revokes() && fence < taken {
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
        // Entries that stay keep their order, and new ones are behind them.
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

fn token(records: &Records) -> Option<Token> {
    records.ours().map(|ours| ours.token)
}

/// Whether a lock with a queue has no flag.
fn is_unflagged(records: &Records) -> bool {
    let is_ours = records.holder().is_some();
    is_ours && !records.is_flagged() && !records.queue.entries().is_empty()
}
