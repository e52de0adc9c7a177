//! The scripts of plain locks, of shares and of several locks as pure functions of the records.
//! They correspond line by line to `lock-runtime/src/backend/redis/lua`. The test `scripts/random`
//! of `lock-tests` compares the two on the fake server, to the millisecond and branch by branch.
//!
//! Times are remaining durations, not points in time, so two histories that differ only in absolute
//! time are one state. For the same reason a ticket is a place in a list.

mod branch;
mod grant;
mod keys;
mod mint;
mod phase;
mod revoke;
mod script;
mod share_acquire;
mod share_end;
mod shares;
mod slot;

pub use self::branch::{Branch, Taken};
pub use self::keys::{KeysRun, run_keys};
use self::revoke::Seen;
use self::script::Script;
pub use self::shares::{Member, Share, ShareRules, Shares};
pub use self::slot::Key;
pub(crate) use self::slot::KeySet;
use crate::seeded::Seeded;

/// Steps of time; the rules set their length in milliseconds.
pub type Ticks = i32;

pub type Token = i64;

/// The id of an owner: the `number`th of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnerId {
    /// The client, which is a separate process.
    pub client: u8,
    /// The number of the owner, never used twice.
    pub number: u8,
}

impl OwnerId {
    /// The owner in the record of a shared lock, which no client has. So clients that know nothing
    /// of shares see a lock that another owner holds.
    pub const PHASE: OwnerId = OwnerId {
        client: u8::MAX,
        number: 0,
    };

    /// The owner in the record of a reserved lock.
    pub const RESERVED: OwnerId = OwnerId {
        client: u8::MAX,
        number: 1,
    };

    /// Whether the owner belongs to a client.
    pub fn is_of_a_client(self) -> bool {
        self.client != u8::MAX
    }
}

/// The constants that the scripts carry.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How long a waiter has to confirm its grant.
    pub claim: Ticks,
    /// How long a waiter counts as alive after its last poll.
    pub live: Ticks,
    /// How long the queue outlives its last heartbeat.
    pub queue: Ticks,
    /// How long the fence outlives its token, which is a time in µs while a tick is a millisecond;
    /// `None` is without end.
    pub fence: Option<Ticks>,
    /// Tokens that one grant owns.
    pub turns: Token,
    pub shares: ShareRules,
    pub seeded: Option<Seeded>,
}

/// The value of the lock's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Written by a program that does not know this protocol.
    Foreign,
    /// No string.
    WrongType,
    Ours(Ours),
}

/// What a script wrote as the lock's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ours {
    pub owner: OwnerId,
    /// A waiter queues.
    pub flagged: bool,
    /// The token of the grant; zero if it has none.
    pub token: Token,
    /// Used only by [`Seeded::RemoteCount`].
    pub count: u8,
    /// The share in the holder's queue entry, if the lock was granted by a script that does not
    /// know shares.
    pub share: Option<Share>,
}

/// The lock's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lock {
    pub value: Value,
    /// When the key expires; `None` is never.
    pub rest: Option<Ticks>,
}

/// A waiter in the queue, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueEntry {
    pub owner: OwnerId,
    /// How long it still counts as alive; 0 or less is dead, and `None` is a lost heartbeat.
    pub live: Option<Ticks>,
    /// The share that it asks for; `None` is the whole lock.
    pub share: Option<Share>,
}

impl QueueEntry {
    /// Whether it counts as alive.
    pub fn is_live(&self) -> bool {
        self.live.is_some_and(|live| live > 0)
    }
}

/// The value of the fence's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fence {
    /// The last token.
    Token {
        token: Token,
        /// When it expires; `None` is never.
        rest: Option<Ticks>,
    },
    /// A string that is no number.
    Text,
    /// No string.
    WrongType,
}

/// The value of the queue's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Queue {
    /// Waiters, the head first. Without any the key is absent.
    Waiters {
        entries: Vec<QueueEntry>,
        rest: Ticks,
    },
    /// No sorted set.
    WrongType,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::Waiters {
            entries: Vec::new(),
            rest: 0,
        }
    }
}

impl Queue {
    pub fn entries(&self) -> &[QueueEntry] {
        match self {
            Queue::Waiters { entries, .. } => entries,
            Queue::WrongType => &[],
        }
    }

    pub fn entries_mut(&mut self) -> &mut [QueueEntry] {
        match self {
            Queue::Waiters { entries, .. } => entries,
            Queue::WrongType => &mut [],
        }
    }
}

/// Everything in Redis that belongs to one lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Records {
    /// K.
    pub lock: Option<Lock>,
    /// F.
    pub fence: Option<Fence>,
    /// Q.
    pub queue: Queue,
    /// R.
    pub shares: Option<Shares>,
}

/// A script with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Command {
    /// Takes the lock, confirms a grant, or polls.
    Acquire {
        owner: OwnerId,
        ttl: Ticks,
        queue: bool,
    },
    /// Takes the lock if it is free, by a plain command: ignores the queue, and mints no token.
    Take { owner: OwnerId, ttl: Ticks },
    /// Gives the holder a token, if it has none. The grant is this old, by the holder's clock.
    Mint { owner: OwnerId, age: Token },
    /// Lengthens a lease.
    Renew { owner: OwnerId, ttl: Ticks },
    /// Frees an uncontended lock.
    Release { owner: OwnerId },
    /// Frees an uncontended lock without a script: deletes the record if it is unchanged since the
    /// grant.
    Delete { owner: OwnerId, token: Token },
    /// Ends an owner.
    End {
        owner: OwnerId,
        /// The next owner of its process, and the ttl that it asks for.
        successor: Option<(OwnerId, Ticks)>,
    },
    /// Keeps the lock taken without an owner.
    Reserve { owner: OwnerId, ttl: Ticks },
    /// Takes a share, confirms one, or polls.
    ShareAcquire {
        owner: OwnerId,
        share: Share,
        ttl: Ticks,
        queue: bool,
    },
    /// Makes a share of the lock that the sender holds. The grant is this old, by the holder's clock.
    Downgrade {
        owner: OwnerId,
        share: Share,
        ttl: Ticks,
        age: Token,
    },
    /// Lengthens a share.
    ShareRenew {
        owner: OwnerId,
        take: u8,
        ttl: Ticks,
    },
    /// Removes a share, if no waiter queues.
    ShareRelease { owner: OwnerId, take: u8 },
    /// Ends any owner, and serves the waiters.
    ShareEnd {
        owner: OwnerId,
        /// The share that it asked for; `None` is the whole lock.
        share: Option<Share>,
    },
    /// Takes the lock from its holder, or from all that share it.
    Revoke { seen: Token },
    /// Takes the lock from an owner that had no token when the operator saw it.
    RevokeOwner { owner: OwnerId },
}

impl Command {
    /// The owner that it ends.
    pub(crate) fn ended(self) -> Option<OwnerId> {
        match self {
            Command::Release { owner }
            | Command::Delete { owner, .. }
            | Command::End { owner, .. }
            | Command::Reserve { owner, .. }
            | Command::ShareRelease { owner, .. }
            | Command::ShareEnd { owner, .. } => Some(owner),
            _ => None,
        }
    }
}

/// The answer of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// Flag and token: the caller, or the successor that its `end` names, holds the lock.
    Held {
        flagged: bool,
        /// The token; zero if the lock was taken without one.
        token: Token,
    },
    /// Another owner holds the lock.
    Waiting {
        /// How long the lease of that owner lasts; `None` is without end.
        remaining: Option<Ticks>,
        /// The place in the queue, from 1; 0 is none.
        position: u8,
    },
    /// Others share the lock, and there is no room.
    WaitingForShares {
        /// How long the lock is shared; for a share with a limit, when the first share lapses.
        remaining: Option<Ticks>,
        /// The place in the queue, from 1; 0 is none.
        position: u8,
        /// How many owners share it.
        owners: u8,
        /// The sum of their shares.
        taken: i32,
    },
    /// From `renew` and `mint`: the lock is not the owner's. From the plain command: it is taken.
    Nil,
    /// One of the numbers of `release` and `end`. `Delete` answers like `release`, with 2 whenever
    /// it did not delete.
    Code(i8),
    /// An error that a repetition would not change.
    Refused(Refusal),
    /// An error that a repetition may change.
    Unavailable,
}

/// Why a script refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// A key has another type.
    WrongType,
    /// The fence is no number.
    BadFence,
    /// The server refuses commands that need memory.
    OutOfMemory,
}

/// An impairment of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing.
    #[default]
    Normal,
    /// Commands that need memory are refused.
    OutOfMemory,
    /// The slot is being migrated. A script must be retried if one of its keys is missing, and
    /// fails half-way at a key that it removed itself.
    Migrating,
    /// K holds another type, according to the records.
    LockWrong,
    /// F holds another type.
    FenceWrong,
    /// Q holds another type.
    QueueWrong,
}

/// The circumstances of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    /// The server's clock, as a token.
    pub now: Token,
    /// One bit for each client that `PUBLISH` counts as a receiver.
    pub receivers: u8,
    pub mode: Mode,
}

impl Site {
    /// Whether an announcement for `owner` has a receiver.
    fn has_receiver(&self, owner: OwnerId) -> bool {
        // No client has the owner of a phase, or of a reserved lock.
        let client = 1_u8.checked_shl(owner.client.into());
        client.is_some_and(|client| self.receivers & client != 0)
    }
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub answer: Answer,
    /// The announced owners, in order: those of a grant, or of the first waiter behind a holder.
    pub announced: Vec<OwnerId>,
    /// The owners that were notified of a revocation.
    pub told: Vec<OwnerId>,
    pub taken: Taken,
}

impl Records {
    pub fn run(&mut self, command: Command, rules: &Rules, site: &Site) -> Run {
        let mut script = Script::new(self, rules, site);
        let answer = match command {
            command if site.mode == Mode::Migrating && !script.records.may_run(command) => {
                Answer::Unavailable
            }
            Command::Acquire { owner, ttl, queue } => script.acquire(owner, ttl, queue),
            Command::Take { owner, ttl } => script.take(owner, ttl),
            Command::Mint { owner, age } => script.mint(owner, age),
            Command::Renew { owner, ttl } => script.renew(owner, ttl),
            Command::Release { owner } => script.release(owner),
            Command::Delete { owner, token } => script.delete(owner, token),
            Command::End { owner, successor } => script.end(owner, successor),
            Command::Reserve { owner, ttl } => script.reserve(owner, ttl),
            Command::ShareAcquire {
                owner,
                share,
                ttl,
                queue,
            } => script.share_acquire(owner, share, ttl, queue),
            Command::Downgrade {
                owner,
                share,
                ttl,
                age,
            } => script.downgrade(owner, share, ttl, age),
            Command::ShareRenew { owner, take, ttl } => script.share_renew(owner, take, ttl),
            Command::ShareRelease { owner, take } => script.share_release(owner, take),
            Command::ShareEnd { owner, share } => script.share_end(owner, share),
            Command::Revoke { seen } => script.revoke(Seen::Token(seen)),
            Command::RevokeOwner { owner } => script.revoke(Seen::Owner(owner)),
        };
        let (announced, told, taken) = script.traces();
        Run {
            answer,
            announced,
            told,
            taken,
        }
    }

    /// Whether a node that has only these records runs a script in a slot that is being migrated. The
    /// script of a holder may find none.
    fn may_run(&self, command: Command) -> bool {
        let (named, existing) = (KeySet::named(command), KeySet::existing(self));
        let is_of_holder = matches!(
            command,
            Command::Renew { .. }
                | Command::Release { .. }
                | Command::Delete { .. }
                | Command::Reserve { .. }
                | Command::ShareRenew { .. }
                | Command::ShareRelease { .. }
        );
        named.without(existing).is_empty() || is_of_holder && named.and(existing).is_empty()
    }

    /// Lets `ticks` pass, or takes them back.
    pub fn advance(&mut self, ticks: Ticks) {
        let is_over = |rest: &mut Ticks| {
            *rest -= ticks;
            *rest <= 0
        };
        if let Some(Lock {
            rest: Some(rest), ..
        }) = &mut self.lock
            && is_over(rest)
        {
            self.lock = None;
        }
        if let Some(Fence::Token {
            rest: Some(rest), ..
        }) = &mut self.fence
            && is_over(rest)
        {
            self.fence = None;
        }
        if let Some(Shares::Counted { members, rest, .. }) = &mut self.shares {
            if is_over(rest) {
                self.shares = None;
            } else {
                members.iter_mut().for_each(|member| member.rest -= ticks);
            }
        }
        if let Queue::Waiters { entries, rest } = &mut self.queue
            && !entries.is_empty()
        {
            if is_over(rest) {
                self.queue = Queue::default();
            } else {
                let lives = entries.iter_mut().filter_map(|entry| entry.live.as_mut());
                lives.for_each(|live| *live -= ticks);
            }
        }
    }

    /// Makes states equal that differ only in how long ago a waiter died or a share lapsed.
    pub(crate) fn forget_since_when(&mut self) {
        for entry in self.queue.entries_mut() {
            entry.live = entry.live.map(|live| live.max(0));
        }
        for member in self.shares.iter_mut().flat_map(Shares::members_mut) {
            member.rest = member.rest.max(0);
        }
    }

    /// The holder, if a script wrote the record; [`OwnerId::PHASE`] if the lock is shared, and
    /// [`OwnerId::RESERVED`] if it is reserved.
    pub fn holder(&self) -> Option<OwnerId> {
        self.ours().map(|ours| ours.owner)
    }

    /// The lock, if a script wrote it.
    pub fn ours(&self) -> Option<Ours> {
        match self.lock?.value {
            Value::Ours(ours) => Some(ours),
            Value::Foreign | Value::WrongType => None,
        }
    }

    pub(crate) fn ours_mut(&mut self) -> Option<&mut Ours> {
        match &mut self.lock.as_mut()?.value {
            Value::Ours(ours) => Some(ours),
            Value::Foreign | Value::WrongType => None,
        }
    }

    /// Whether a script has set the flag of the lock.
    pub(crate) fn is_flagged(&self) -> bool {
        self.ours().is_some_and(|ours| ours.flagged)
    }

    /// The last token, according to the fence.
    pub(crate) fn last_token(&self) -> Token {
        match self.fence {
            Some(Fence::Token { token, .. }) => token,
            _ => 0,
        }
    }

    /// The shares in R, whether they count or not.
    pub(crate) fn all_members(&self) -> &[Member] {
        self.shares.as_ref().map_or(&[], Shares::members)
    }

    /// The shares that count: empty unless the record of the lock shows a phase.
    pub fn members(&self) -> &[Member] {
        match self.holder() {
            Some(OwnerId::PHASE) => self.all_members(),
            _ => &[],
        }
    }

    /// The live share of `owner`.
    pub fn share(&self, owner: OwnerId) -> Option<&Member> {
        let mut members = self.members().iter();
        members.find(|member| member.owner == owner && member.is_live())
    }

    /// Whether `owner` holds, shares or queues.
    pub fn names(&self, owner: OwnerId) -> bool {
        let mut entries = self.queue.entries().iter();
        self.holder() == Some(owner)
            || self.share(owner).is_some()
            || entries.any(|entry| entry.owner == owner)
    }
}
