//! The four scripts as pure functions of the records: line by line those of
//! `lock-runtime/src/backend/redis/lua`. The test `scripts/random` of `lock-tests` compares the two on a
//! real server, to the millisecond and branch by branch.
//!
//! Times are durations that are left, not points in time. Two histories that differ only in when they
//! happened are thus one state. For the same reason a ticket is a place in a list.

mod branch;
mod grant;
mod script;

pub use self::branch::{Branch, Taken};
use self::script::Script;
use crate::seeded::Seeded;

/// Steps of time: as many milliseconds as the rules say.
pub type Ticks = i32;

/// A fencing token.
pub type Token = i64;

/// The id of an owner: the `number`th of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnerId {
    /// The client, which is a process of its own.
    pub client: u8,
    /// The number of the owner, never used twice.
    pub number: u8,
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
    /// How long the fence outlives its token, which is a time in µs while a tick is a millisecond; `None` is
    /// without end.
    pub fence: Option<Ticks>,
    /// Tokens that one grant owns.
    pub turns: Token,
    /// The seeded mistake.
    pub seeded: Option<Seeded>,
}

/// The value of the lock's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Written by a program that does not know this protocol.
    Foreign,
    /// No string.
    WrongType,
    /// Written by a script.
    Ours {
        /// The holder.
        owner: OwnerId,
        /// A waiter queues.
        flagged: bool,
        /// The token of the grant.
        token: Token,
        /// Used by [`Seeded::RemoteCount`] alone.
        count: u8,
    },
}

/// The lock's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lock {
    /// The value.
    pub value: Value,
    /// When the key expires; `None` is never.
    pub rest: Option<Ticks>,
}

/// A waiter in the queue, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueEntry {
    /// Its owner.
    pub owner: OwnerId,
    /// How long it still counts as alive; 0 or less is dead, and `None` is a lost heartbeat.
    pub live: Option<Ticks>,
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
        /// The token.
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
        /// The entries.
        entries: Vec<QueueEntry>,
        /// When the queue expires.
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
    /// The waiters, the head first.
    pub fn entries(&self) -> &[QueueEntry] {
        match self {
            Queue::Waiters { entries, .. } => entries,
            Queue::WrongType => &[],
        }
    }

    /// The waiters, mutable.
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
}

/// A script with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Command {
    /// Takes the lock, confirms a grant, or polls.
    Acquire {
        /// The owner that asks.
        owner: OwnerId,
        /// The lease's length.
        ttl: Ticks,
        /// Whether to queue if the lock is taken.
        queue: bool,
    },
    /// Lengthens a lease.
    Renew {
        /// The holder.
        owner: OwnerId,
        /// The new length.
        ttl: Ticks,
    },
    /// Frees an uncontended lock.
    Release {
        /// The holder.
        owner: OwnerId,
    },
    /// Frees an uncontended lock without a script: deletes the record if it is the one of the grant.
    Delete {
        /// The holder.
        owner: OwnerId,
        /// The token of the grant.
        token: Token,
    },
    /// Ends an owner.
    End {
        /// The owner to end.
        owner: OwnerId,
        /// The next owner of its process, and the ttl that it asks for.
        successor: Option<(OwnerId, Ticks)>,
    },
}

/// What a script answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// Flag and token: the caller holds the lock, or the successor that its `end` names.
    Held {
        /// The flag.
        flagged: bool,
        /// The token.
        token: Token,
    },
    /// Another owner holds the lock.
    Waiting {
        /// How long the lease of that owner lasts; `None` is without end.
        remaining: Option<Ticks>,
        /// The place in the queue, from 1; 0 is none.
        position: u8,
    },
    /// From `renew`: the lock is not the owner's.
    Nil,
    /// One of the numbers of `release` and `end`. `Delete` answers as `release` does, with 2 whenever it did
    /// not delete.
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
    /// The slot is being migrated. A script has to be tried again if one of its keys is missing, and fails
    /// half-way at a key that it removed itself.
    Migrating,
    /// K holds another type, as the records say.
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
    /// The impairment.
    pub mode: Mode,
}

impl Site {
    /// Whether an announcement for `owner` has a receiver.
    fn has_receiver(&self, owner: OwnerId) -> bool {
        self.receivers & (1 << owner.client) != 0
    }
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The answer.
    pub answer: Answer,
    /// The owners that were announced, in order: of a grant, or of the first waiter behind a holder.
    pub announced: Vec<OwnerId>,
    /// The branches that the run took.
    pub taken: Taken,
}

impl Records {
    /// Runs one script.
    pub fn run(&mut self, command: Command, rules: &Rules, site: &Site) -> Run {
        let mut script = Script::new(self, rules, site);
        let answer = match (command, site.mode) {
            // A script runs only on a node that has all of its keys.
            (Command::Acquire { .. } | Command::End { .. }, Mode::Migrating)
                if !script.has_all_keys() =>
            {
                Answer::Unavailable
            }
            (Command::Acquire { owner, ttl, queue }, _) => script.acquire(owner, ttl, queue),
            (Command::Renew { owner, ttl }, _) => script.renew(owner, ttl),
            (Command::Release { owner }, _) => script.release(owner),
            (Command::Delete { owner, token }, _) => script.delete(owner, token),
            (Command::End { owner, successor }, _) => script.end(owner, successor),
        };
        let (announced, taken) = script.traces();
        Run {
            answer,
            announced,
            taken,
        }
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

    /// Makes states equal that differ only in how long a waiter has been dead.
    pub(crate) fn forget_since_when(&mut self) {
        for entry in self.queue.entries_mut() {
            entry.live = entry.live.map(|live| live.max(0));
        }
    }

    /// The holder, if a script wrote the record.
    pub fn holder(&self) -> Option<OwnerId> {
        match self.lock?.value {
            Value::Ours { owner, .. } => Some(owner),
            Value::Foreign | Value::WrongType => None,
        }
    }

    /// Whether `owner` holds or queues.
    pub fn names(&self, owner: OwnerId) -> bool {
        let mut entries = self.queue.entries().iter();
        self.holder() == Some(owner) || entries.any(|entry| entry.owner == owner)
    }
}
