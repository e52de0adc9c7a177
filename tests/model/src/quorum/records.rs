//! The records of one node: the lock, its fence, its queue, and the node's marker.

/// An owner. If two owners have the same stamp, the lesser one is first.
pub type Owner = u8;

/// A fencing token, a stamp, or a proposal.
pub type Token = i64;

/// A time, or a length of time.
pub type Ticks = i64;

/// K, F, Q and M. Times are the node's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Records {
    /// K.
    pub lock: Option<Lock>,
    /// F: the last token, or 0.
    pub fence: Token,
    /// Q, in the order in which the lock is granted.
    pub queue: Vec<Entry>,
    /// M.
    pub marker: Option<Marker>,
}

/// K: the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lock {
    pub owner: Owner,
    pub token: Token,
    /// The flag: an owner queues.
    pub flagged: bool,
    /// The time at which the lock becomes free.
    pub expires_at: Ticks,
}

/// An entry of Q.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The ticket: the stamp that the client chose.
    pub stamp: Token,
    pub owner: Owner,
    /// The time at which the entry becomes dead.
    pub live_until: Ticks,
}

/// M: the boot that the node was last seen with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker {
    pub boot: u8,
    /// For how long the node has waited; `None` if it votes.
    pub count: Option<Count>,
}

/// How long a node that may have lost data has waited, according to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count {
    /// Distinguishes the counts of a node.
    pub name: u8,
    /// The time that has certainly passed since the count began.
    pub waited: Ticks,
}

impl Records {
    /// Drops what has expired by `now`. The server does this before each script.
    pub fn expire(&mut self, now: Ticks) {
        self.lock = self.lock.filter(|lock| lock.expires_at > now);
        self.queue.retain(|entry| entry.live_until > now);
    }

    /// Whether any record names `owner`.
    pub fn name(&self, owner: Owner) -> bool {
        self.lock.is_some_and(|lock| lock.owner == owner) || self.place(owner).is_some()
    }

    /// Where `owner` is in the queue.
    pub fn place(&self, owner: Owner) -> Option<usize> {
        self.queue.iter().position(|entry| entry.owner == owner)
    }
}
