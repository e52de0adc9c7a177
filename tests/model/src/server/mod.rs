//! The four scripts as pure functions of what is in Redis: line by line what
//! `lock-runtime/src/backend/redis/lua` does. `tests/twin.rs` compares the two on a real server.
//!
//! Times are what is left, not points in time, so that two histories which differ only in when they
//! happened are one state. For the same reason a ticket is a place in a list.

mod script;

use self::script::Script;
use crate::seeded::Seeded;

/// Steps of time.
pub type Ticks = i16;

/// A fencing token.
pub type Token = u16;

/// Who holds or queues: the `number`th owner of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
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
    /// Written by a script.
    Ours {
        /// Who holds the lock.
        owner: Owner,
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
pub struct Entry {
    /// Whose it is.
    pub owner: Owner,
    /// How long it still counts as alive; 0 is dead.
    pub live: Ticks,
}

/// Everything in Redis that belongs to one lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Records {
    /// K.
    pub lock: Option<Lock>,
    /// F.
    pub fence: Option<Token>,
    /// Q.
    pub queue: Vec<Entry>,
}

/// A script with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Command {
    /// Takes the lock, confirms a grant, or polls.
    Acquire {
        /// For whom.
        owner: Owner,
        /// For how long.
        ttl: Ticks,
        /// Whether to queue if it is taken.
        queue: bool,
    },
    /// Lengthens a lease.
    Renew {
        /// Whose.
        owner: Owner,
        /// To how much.
        ttl: Ticks,
    },
    /// Frees a lock that nobody waits for.
    Release {
        /// Whose.
        owner: Owner,
    },
    /// The same without a script: deletes the lock if its record is just what the owner was granted.
    Delete {
        /// Whose.
        owner: Owner,
        /// The token of the grant.
        token: Token,
    },
    /// Ends an owner.
    End {
        /// Which.
        owner: Owner,
        /// Who is next in its process, and for how long.
        next: Option<(Owner, Ticks)>,
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
        /// Place in the queue; 0 is outside.
        position: u8,
    },
    /// `renew`: not the owner's.
    Nil,
    /// One of the numbers of `release` and `end`; what compares and deletes answers as `release` does,
    /// 2 whenever it did not delete.
    Code(i8),
    /// An error that a repetition would not change.
    Refused,
    /// An error that a repetition may change.
    Unavailable,
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
    /// K holds another type.
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
    /// What is wrong.
    pub mode: Mode,
}

impl Site {
    /// Whether what is published for `owner` has a receiver.
    fn hears(&self, owner: Owner) -> bool {
        self.receivers & (1 << owner.client) != 0
    }
}

/// What one run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The answer.
    pub answer: Answer,
    /// Who was told, of a grant or of the first that queues behind it, in order.
    pub told: Vec<Owner>,
}

impl Records {
    /// Runs one script.
    pub fn run(&mut self, command: Command, rules: &Rules, site: &Site) -> Run {
        let mut script = Script::new(self, rules, site);
        let answer = match (command, site.mode) {
            (_, Mode::LockWrong) => Answer::Refused,
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
            (Command::End { owner, next }, _) => script.end(owner, next),
        };
        Run {
            answer,
            told: script.told(),
        }
    }

    /// Lets time pass. A queue whose last heartbeat is long past is gone.
    pub fn tick(&mut self) {
        self.advance(1);
    }

    /// Lets `ticks` pass, or takes them back.
    pub fn advance(&mut self, ticks: Ticks) {
        if let Some(Lock {
            rest: Some(rest), ..
        }) = &mut self.lock
        {
            *rest -= ticks;
            if *rest <= 0 {
                self.lock = None;
            }
        }
        if ticks > 0 && self.queue.iter().all(|entry| entry.live == 0) {
            self.queue.clear();
        }
        for entry in &mut self.queue {
            // What is dead stays so: nobody counts on a clock that is set back.
            entry.live = (entry.live - ticks).max(0);
        }
    }

    /// Who holds the lock, if it is one of ours.
    pub fn holder(&self) -> Option<Owner> {
        match self.lock?.value {
            Value::Ours { owner, .. } => Some(owner),
            Value::Foreign => None,
        }
    }

    /// Whether `owner` holds or queues.
    pub fn names(&self, owner: Owner) -> bool {
        self.holder() == Some(owner) || self.queue.iter().any(|entry| entry.owner == owner)
    }
}
