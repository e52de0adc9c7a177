//! The four scripts as pure functions of what is in Redis: line by line what
//! `lock-runtime/src/backend/redis/lua` does. The test `scripts/random` of `lock-tests` compares the two on a
//! real server, to the millisecond and branch by branch.
//!
//! Times are what is left, not points in time, so that two histories which differ only in when they
//! happened are one state. For the same reason a ticket is a place in a list.

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

/// Who holds or queues: the `number`th owner of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnerId {
    /// The client, which is a process of its own.
    pub client: u8,
    /// Never used twice.
    pub number: u8,
}

/// The constants that the scripts carry.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How long a waiter has to confirm that it was served.
    pub claim: Ticks,
    /// How long a waiter counts as alive after its last poll.
    pub live: Ticks,
    /// How long the queue outlives its last heartbeat.
    pub queue: Ticks,
    /// How long the fence outlives its token, which is a time in µs while a tick is a millisecond; `None` is
    /// for ever.
    pub fence: Option<Ticks>,
    /// Tokens that one grant owns.
    pub turns: Token,
    /// The mistake that is made.
    pub seeded: Option<Seeded>,
}

/// The value of the lock's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Written by somebody who knows nothing of this protocol.
    Foreign,
    /// No string.
    WrongType,
    /// Written by a script.
    Ours {
        /// Who holds the lock.
        owner: OwnerId,
        /// Somebody queues.
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
    /// Its value.
    pub value: Value,
    /// When it expires; `None` is never.
    pub rest: Option<Ticks>,
}

/// A waiter in the queue, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueEntry {
    /// Whose it is.
    pub owner: OwnerId,
    /// How long it still counts as alive; not above 0 is dead, and `None` a heartbeat that is lost.
    pub live: Option<Ticks>,
}

impl QueueEntry {
    /// Whether it counts as alive.
    pub fn is_live(&self) -> bool {
        self.live.is_some_and(|live| live > 0)
    }
}

/// What is at the fence's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fence {
    /// The last token.
    Token {
        /// Its number.
        token: Token,
        /// When it expires; `None` is never.
        rest: Option<Ticks>,
    },
    /// A string that is no number.
    Text,
    /// No string.
    WrongType,
}

/// What is at the queue's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Queue {
    /// Waiters, the head first. Without any there is no such key.
    Waiters {
        /// They.
        entries: Vec<QueueEntry>,
        /// When all of it expires.
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

    /// The same, to be changed.
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
        /// For whom.
        owner: OwnerId,
        /// For how long.
        ttl: Ticks,
        /// Whether to queue if it is taken.
        queue: bool,
    },
    /// Lengthens a lease.
    Renew {
        /// Whose.
        owner: OwnerId,
        /// To how much.
        ttl: Ticks,
    },
    /// Frees a lock that nobody waits for.
    Release {
        /// Whose.
        owner: OwnerId,
    },
    /// The same without a script: deletes the lock if its record is just what the owner was granted.
    Delete {
        /// Whose.
        owner: OwnerId,
        /// The token of the grant.
        token: Token,
    },
    /// Ends an owner.
    End {
        /// Which.
        owner: OwnerId,
        /// Who is next in its process, and for how long.
        successor: Option<(OwnerId, Ticks)>,
    },
}

/// What a script answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// Flag and token: the caller has the lock, or from `end` the next one has.
    Held {
        /// The flag.
        flagged: bool,
        /// The token.
        token: Token,
    },
    /// Another has it.
    Waiting {
        /// How long that one still has it; `None` is for ever.
        remaining: Option<Ticks>,
        /// Place in the queue; 0 is outside.
        position: u8,
    },
    /// `renew`: not the owner's.
    Nil,
    /// One of the numbers of `release` and `end`; what compares and deletes answers as `release` does,
    /// 2 whenever it did not delete.
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
    /// What needs memory is not done.
    OutOfMemory,
}

/// What keeps the server from doing all it is asked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing.
    #[default]
    Normal,
    /// Commands that need memory are refused.
    OutOfMemory,
    /// The slot is being moved: a script is to be tried again if one of its keys is missing, and fails
    /// half-way at a key that it removed itself.
    Migrating,
    /// K holds another type, as the records say.
    LockWrong,
    /// F does.
    FenceWrong,
    /// Q does.
    QueueWrong,
}

/// The circumstances of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    /// The server's clock, as a token.
    pub now: Token,
    /// One bit for each client that `PUBLISH` counts as a receiver.
    pub receivers: u8,
    /// What is wrong.
    pub mode: Mode,
}

impl Site {
    /// Whether what is published for `owner` has a receiver.
    fn has_receiver(&self, owner: OwnerId) -> bool {
        self.receivers & (1 << owner.client) != 0
    }
}

/// What one run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The answer.
    pub answer: Answer,
    /// Who was told, of a grant or of the first that queues behind it, in order.
    pub announced: Vec<OwnerId>,
    /// The branches that it took.
    pub taken: Taken,
}

impl Records {
    /// Runs one script.
    pub fn run(&mut self, command: Command, rules: &Rules, site: &Site) -> Run {
        let mut script = Script::new(self, rules, site);
        let answer = match (command, site.mode) {
            // A script runs only where all of its keys are.
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

    /// Who holds the lock, if it is one of ours.
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
