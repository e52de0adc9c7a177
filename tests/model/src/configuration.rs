//! One bounded world to be explored, and the checker's view of it.

use crate::audit::Breach;
use crate::canonical;
use crate::conduct::ClientRules;
use crate::explore::{Model, Property};
use crate::faults::Budget;
use crate::properties;
use crate::seeded::Seeded;
use crate::server::{Mode, Rules, Ticks, Token};
use crate::world::{Action, World};

/// Whether exclusion can be kept under the faults of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It must be.
    Exclusive,
    /// No lease can: the token protects the resource.
    Fenced,
}

/// The bounds of one exploration.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// What it is called.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Calls that each client makes.
    pub calls: Vec<u8>,
    /// What may happen, and how often.
    pub budget: Budget,
    /// What the server may be kept from.
    pub modes: Vec<Mode>,
    /// What must hold.
    pub class: Class,
    /// The lease's length.
    pub ttl: Ticks,
    /// How long a grant waits to be confirmed.
    pub claim: Ticks,
    /// How long a waiter counts as alive after a poll.
    pub live: Ticks,
    /// How long a command may take to arrive on a live connection.
    pub delay: Ticks,
    /// How long it may take on a dead one.
    pub late: Ticks,
    /// How long a tainted owner is ended again.
    pub window: Ticks,
    /// Tokens that one grant owns.
    pub turns: Token,
    /// A lease is passed on inside a process, and for so long after the grant while others queue.
    pub local_turns: Option<Ticks>,
    /// A lease that nobody else wants is retained for so long after the body; zero is not at all.
    pub retain: Ticks,
    /// Every other caller's ttl, the first one's among them if their number is even, is longer by so much.
    pub mixed: Ticks,
    /// A renewal that asks for less than a whole ttl.
    pub short_renewal: Option<Ticks>,
    /// `PUBLISH` counts subscribers; in a cluster it need not.
    pub publish_counts: bool,
    /// A client has forgotten whose owners are announced that it ended, and ignores it.
    pub forgets: bool,
    /// Bodies cannot be stopped.
    pub synchronous: bool,
    /// The server compares and deletes: an uncontended lock is released by that.
    pub deletes: bool,
    /// Each so many-th state is run on without faults, to see that all is well in the end.
    pub recovers: Option<u64>,
    /// A mistake.
    pub seeded: Option<Seeded>,
}

impl Configuration {
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            claim: self.claim,
            live: self.live,
            queue: self.live + 1,
            fence: None,
            turns: self.turns,
            seeded: self.seeded,
        }
    }

    pub(crate) fn client_rules(&self) -> ClientRules {
        ClientRules {
            ttls: [self.ttl, self.ttl + self.mixed],
            window: self.window,
            turns: self.turns,
            max_local_time: self.local_turns,
            retain: self.retain,
            claim: self.claim,
            forgets: self.forgets,
            synchronous: self.synchronous,
            deletes: self.deletes,
            seeded: self.seeded,
        }
    }

    pub(crate) fn longest(&self) -> Ticks {
        self.ttl + self.mixed.max(0)
    }

    /// How far the time since a grant is counted.
    pub(crate) fn max_local_time(&self) -> Ticks {
        self.local_turns.unwrap_or(0)
    }

    /// The same with a mistake in it.
    #[must_use]
    pub fn with(mut self, seeded: Seeded) -> Configuration {
        self.seeded = Some(seeded);
        self
    }

    /// The same with a third client, or with one more of everything that may happen.
    #[must_use]
    pub fn deeper(mut self) -> Configuration {
        if self.calls.len() < 3 {
            self.calls.push(1);
        } else {
            self.budget = self.budget.deeper();
        }
        self
    }
}

impl Model for Configuration {
    type State = World;
    type Action = Action;

    fn first(&self) -> World {
        World::new(self)
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.choices(self, actions);
        world.faults(self, actions);
    }

    fn next(&self, world: &World, action: Action) -> World {
        let mut next = world.clone();
        next.step(action, self);
        canonical::reduce(&mut next, self.turns);
        next
    }

    fn properties(&self) -> Vec<Property<Configuration>> {
        properties::of(self)
    }
}

impl Breach {
    /// What the rule says.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Breach::Taken => "a lock changes hands only by its holder's end or by expiry",
            Breach::MadeAnew => "only an acquire makes a lock",
            Breach::Shortened => "no lease is shortened",
            Breach::TokenFell => "tokens rise with every grant",
            Breach::LostPlace => "a waiter that polls keeps its place",
            Breach::Overtook => "waiters queue in order of arrival",
            Breach::NotEnded => "an ended owner neither holds nor queues",
            Breach::Unflagged => "the record of a lock with a queue has the flag",
            Breach::AcquiredAfterEnd => "no owner acquires after its end",
            Breach::TurnToken => "tokens rise with every body",
            Breach::Bypassed => {
                "no process overtakes the head of the queue more often than a grant has tokens"
            }
            Breach::ShortTurn => "a turn begins with two thirds of its caller's ttl left",
            Breach::TakenLate => "a retained lease is taken in its time or not at all",
            Breach::HalfDone => "a script that fails changes nothing",
        }
    }
}
