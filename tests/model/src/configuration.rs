//! The bounds of one exploration, and the model that the checker sees.

use crate::canonical;
use crate::conduct::LocalTurns;
use crate::control::SafetyLine;
use crate::explore::{Model, Property};
use crate::faults::{Budget, Fault};
use crate::properties;
use crate::seeded::Seeded;
use crate::server::{Mode, Rules, Share, ShareRules, Ticks, Token};
use crate::world::{Action, World};

/// Whether leases can exclude under a configuration's faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Exclusion must hold.
    Exclusive,
    /// Leases cannot exclude: the token protects the resource.
    Fenced,
}

/// The bounds of one exploration.
#[derive(Clone, Debug)]
pub struct Configuration {
    pub name: &'static str,
    /// The scenarios that it covers.
    pub about: &'static str,
    /// Calls that each client makes.
    pub calls: Vec<u8>,
    /// The shares that each client asks for in addition to its calls, the first one last.
    pub shares: Vec<Vec<Share>>,
    /// The locks that each client's calls take, in the order of the call; empty for a single lock.
    pub together: &'static [&'static [u8]],
    /// How many shares one script grants at most.
    pub share_window: usize,
    /// How many waiters or lapsed shares one script examines.
    pub walk: usize,
    /// How long a lock outlives its last share.
    pub rounding: Ticks,
    /// Exclusive owners are writers: they end by the scripts of shares.
    pub writes: bool,
    /// The faults that may happen, and how often each.
    pub budget: Budget,
    /// The impairments that may happen.
    pub modes: Vec<Mode>,
    /// The properties that must hold.
    pub class: Class,
    pub ttl: Ticks,
    /// How long a waiter has to confirm its grant.
    pub claim: Ticks,
    /// How long a waiter counts as alive after a poll.
    pub live: Ticks,
    /// How long a command may take to arrive on a live connection.
    pub delay: Ticks,
    /// How long a command may take to arrive on a dead connection.
    pub late: Ticks,
    /// Tokens that one grant owns.
    pub turns: Token,
    /// How long after a grant a lease is handed over inside a process while waiters queue in Redis;
    /// `None` is never, with or without a queue.
    pub local_turns: Option<Ticks>,
    /// How long an uncontended lease is retained after the body; zero is not at all.
    pub retain: Ticks,
    /// The minimum hold: a lock stays taken this long even if its body is over.
    pub at_least: Ticks,
    /// Every other caller's ttl is longer by this; with an even number of callers the first one's
    /// is.
    pub mixed: Ticks,
    /// A renewal that asks for less than a whole ttl.
    pub short_renewal: Option<Ticks>,
    /// `PUBLISH` counts subscribers; in a cluster it may not.
    pub publish_counts: bool,
    /// Leases are confirmed when their server may be another.
    pub confirms: bool,
    /// How long clients take to notice that another server has taken over, while the old one serves
    /// them; zero if the old one is gone.
    pub notice: Ticks,
    /// How far the clock of the next server is behind; negative is ahead.
    pub skew: Ticks,
    /// A client forgets ended owners, and ignores announcements that name them.
    pub forgets: bool,
    /// Bodies cannot be stopped.
    pub synchronous: bool,
    /// A free lock is taken by a plain command, without a token.
    pub takes: bool,
    /// An uncontended lock is released by a command that compares and deletes.
    pub deletes: bool,
    /// One in this many states is continued without faults, to check that it recovers.
    pub recovers: Option<u64>,
    pub seeded: Option<Seeded>,
    pub removed: Option<SafetyLine>,
}

impl Configuration {
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            claim: self.claim,
            live: self.live,
            queue: self.live + 1,
            fence: None,
            turns: self.turns,
            shares: ShareRules {
                window: self.share_window,
                walk: self.walk,
                rounding: self.rounding,
            },
            seeded: self.seeded,
        }
    }

    /// Whether calls share the lock.
    pub(crate) fn has_shares(&self) -> bool {
        self.shares.iter().any(|shares| !shares.is_empty()) || self.budget.allows(Fault::Downgrade)
    }

    /// How many locks there are in addition to the first.
    pub(crate) fn beside(&self) -> usize {
        let named = self.together.iter().copied().flatten().max();
        named.map_or(0, |&last| usize::from(last))
    }

    /// The locks of a client's calls, in acquisition order.
    pub(crate) fn order(&self, client: usize) -> Vec<u8> {
        let mut locks = self
            .together
            .get(client)
            .map_or(Vec::new(), |named| named.to_vec());
        if self.seeded != Some(Seeded::Unsorted) {
            locks.sort_unstable();
        }
        locks
    }

    /// The ttls that callers ask for, alternately.
    pub(crate) fn ttls(&self) -> [Ticks; 2] {
        [self.ttl, self.ttl + self.mixed]
    }

    pub(crate) fn turns_in_time(&self) -> LocalTurns {
        LocalTurns::of(self.local_turns)
    }

    pub(crate) fn longest(&self) -> Ticks {
        self.ttl + self.mixed.max(0)
    }

    /// The longest life of a record that a failover restored: a lease, or an entry that is granted
    /// the lock in its last live tick. Counted where leases are confirmed.
    pub(crate) fn longest_brought_back(&self) -> Ticks {
        if !self.confirms {
            return 0;
        }
        self.longest().max(self.live - 1 + self.claim) + self.skew.max(0)
    }

    #[must_use]
    pub fn with(mut self, seeded: Seeded) -> Configuration {
        self.seeded = Some(seeded);
        self
    }

    #[must_use]
    pub fn without(mut self, line: SafetyLine) -> Configuration {
        self.removed = Some(line);
        self
    }
}

impl Model for Configuration {
    type State = World;
    type Action = Action;

    fn name(&self) -> &'static str {
        self.name
    }

    fn removed(&self) -> Option<SafetyLine> {
        self.removed
    }

    fn first(&self) -> World {
        World::new(self)
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.choices(self, actions);
        world.faults(self, actions);
    }

    fn step(&self, world: &mut World, action: Action) {
        world.step(action, self);
    }

    fn reduce(&self, world: &mut World) {
        canonical::reduce(world, self);
    }

    fn properties(&self) -> Vec<Property<Configuration>> {
        properties::of(self)
    }
}
