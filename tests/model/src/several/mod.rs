//! Callers that acquire several locks together, in one order everywhere.
//!
//! A model of its own: what a client does for one lock is the same for several, so local turns, retained leases and
//! messages are left out. There are two locks, a caller with each client, and the scripts of
//! [`run_keys`](crate::server::run_keys), which `scripts/random` of `lock-tests` compares with the real ones. Polls come
//! at any time, so a message would add nothing.

mod caller;
mod recovery;
mod steps;

use self::caller::Caller;
use crate::explore::{Model, Named, Property};
use crate::server::{KeysMistake, Records, Rules, ShareRules, Ticks, Token};

const LOCKS: usize = 2;
const TTL: Ticks = 2;
const CLAIM: Ticks = 1;
/// How long a waiter counts as alive after a poll. The last claim that it is granted ends before its owner is settled.
const LIVE: Ticks = 3;
/// How long a queue outlives its last heartbeat: the longest that anything of an owner lasts.
const QUEUE: Ticks = 4;
/// How long a command is under way on a live connection, and after a connection broke.
const DELAY: Ticks = 1;
const LATE: Ticks = 1;

/// The scripts' constants. The clock is behind the fences, so tokens count on from them.
const RULES: Rules = Rules {
    claim: CLAIM,
    live: LIVE,
    queue: QUEUE,
    fence: None,
    turns: 1,
    shares: ShareRules::REAL,
    seeded: None,
};

/// No two callers that have a lock in common are inside at once.
pub const EXCLUSION: &str = "no two bodies that have a lock in common run within their deadlines";
/// A lease is that of the first of its locks to expire.
pub const DEADLINE: &str =
    "no holder relies on its locks for longer than the server keeps all of them";
/// Nothing is left of an owner.
pub const PHANTOM: &str = "nothing is left of a forgotten owner";
/// No deadlock.
pub const RECOVERY: &str = "without further faults every call is served and no record is left";
/// Locks are held in their order.
pub const IN_ORDER: &str = "a caller that waits for a lock holds none after it";
/// A loss that a lost answer hid is noticed by the next poll.
pub const LATER_SEEN: &str =
    "an answer to a poll says if its owner has a lock behind the one in the way";
/// A partial loss is a loss.
pub const ALL_RENEWED: &str = "a renewal is confirmed only if its owner has all locks";
/// A release of a part is none.
pub const ALL_FREED: &str = "a release that is confirmed has freed all locks";
/// Tokens.
pub const TOKENS_RISE: &str =
    "a grant has a token above those of all bodies before it at each of its locks";

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mistake {
    /// Each caller takes the locks in the order in which its call names them.
    Unsorted,
    /// A caller goes on waiting although it has lost a lock before the one in the way.
    LossUnnoticed,
    /// One in a script.
    InScript(KeysMistake),
}

/// How often each fault may happen, and how often a lease is renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// A renewal.
    pub renewals: u8,
    /// A caller's wait is over, or its future is dropped.
    pub give_ups: u8,
    /// The first caller's connection breaks: its answers are lost, and its commands arrive late or never.
    pub tears: u8,
    /// A client is killed.
    pub crashes: u8,
    /// A record of a lock is deleted.
    pub deletions: u8,
}

/// A configuration.
#[derive(Clone, Copy, Debug)]
pub struct Several {
    /// Its name.
    pub name: &'static str,
    /// The locks that each caller names, in the order of its call, and how many calls it makes.
    pub callers: &'static [(&'static [usize], u8)],
    /// Faults and renewals.
    pub budget: Budget,
    /// One in so many states is checked for recovery.
    pub recovers: u64,
    /// A mistake.
    pub mistake: Option<Mistake>,
}

/// A step. The first number is a caller, the second an owner of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Time passes.
    Tick,
    /// A call begins.
    Arrive(u8),
    /// A waiter asks for its locks.
    Poll(u8),
    /// The locks are handed over, and the body runs.
    Start(u8),
    /// The body is over.
    Finish(u8),
    /// The client notices that the deadline has passed.
    Lose(u8),
    /// The lease is renewed.
    Renew(u8),
    /// The caller gives up.
    GiveUp(u8),
    /// An owner is ended once more.
    EndAgain(u8, u8),
    /// The client reads the next answer.
    Receive(u8),
    /// The server carries out the next command.
    Deliver(u8),
    /// The server carries out a command of a connection that is gone.
    DeliverStray(u8),
    /// A command of a connection that is gone is lost.
    LoseStray(u8),
    /// The connection breaks, and is replaced at once.
    Tear(u8),
    /// The client is killed.
    Crash(u8),
    /// The record of a lock is deleted.
    Delete(usize),
}

/// The whole state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    locks: [Records; LOCKS],
    callers: Vec<Caller>,
    /// The highest token of a body that began, for each lock.
    highest: [Token; LOCKS],
    budget: Budget,
    /// A rule that the last step broke.
    breach: Option<&'static str>,
}

impl Several {
    /// The same with a mistake.
    pub fn with(self, mistake: Mistake) -> Several {
        Several {
            mistake: Some(mistake),
            ..self
        }
    }

    /// Whether a record may be deleted, so that no lease can exclude.
    fn forgets(&self) -> bool {
        self.budget.deletions > 0
    }

    fn in_script(&self) -> Option<KeysMistake> {
        match self.mistake {
            Some(Mistake::InScript(mistake)) => Some(mistake),
            _ => None,
        }
    }

    /// The locks of a caller, in the order in which it takes them.
    fn order(&self, caller: usize) -> Vec<usize> {
        let mut locks = self.callers[caller].0.to_vec();
        if self.mistake != Some(Mistake::Unsorted) {
            locks.sort_unstable();
        }
        locks
    }
}

impl Named for Several {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl Model for Several {
    type State = World;
    type Action = Step;

    fn first(&self) -> World {
        World {
            locks: Default::default(),
            callers: self
                .callers
                .iter()
                .map(|&(_, calls)| Caller::new(calls))
                .collect(),
            highest: [0; LOCKS],
            budget: self.budget,
            breach: None,
        }
    }

    fn actions(&self, world: &World, actions: &mut Vec<Step>) {
        world.possible(actions);
    }

    fn step(&self, world: &mut World, step: Step) {
        world.step(step, self);
    }

    fn reduce(&self, world: &mut World) {
        world.reduce();
    }

    fn properties(&self) -> Vec<Property<Several>> {
        let breach = |rule| {
            Property::always(rule, move |_: &Several, world: &World, _| {
                world.breach != Some(rule)
            })
        };
        let mut properties = vec![
            Property::always(PHANTOM, |model: &Several, world: &World, _| {
                model.forgets() || world.has_no_phantom()
            }),
            Property::always(EXCLUSION, |model: &Several, world: &World, _| {
                model.forgets() || world.is_exclusive(model)
            }),
            Property::always(DEADLINE, |model: &Several, world: &World, _| {
                model.forgets() || world.is_backed(model)
            }),
            Property::always(RECOVERY, |model: &Several, world: &World, mark| {
                !mark.is_multiple_of(model.recovers) || recovery::ends_well(model, world)
            }),
            Property::sometimes(
                "every call was made, and nothing is left",
                |_, world: &World, _| world.is_over(),
            ),
            Property::sometimes(
                "every fault of the budget has happened",
                |_, world: &World, _| world.budget == Budget::default(),
            ),
            Property::sometimes(
                "a caller has one lock and waits for the next",
                |_, world: &World, _| {
                    world
                        .callers
                        .iter()
                        .any(|caller| caller.in_the_way() > Some(0))
                },
            ),
        ];
        properties.extend([IN_ORDER, LATER_SEEN, ALL_RENEWED, ALL_FREED, TOKENS_RISE].map(breach));
        properties
    }
}

const BOTH: &[usize] = &[0, 1];

const fn several(
    name: &'static str,
    callers: &'static [(&'static [usize], u8)],
    budget: Budget,
    recovers: u64,
) -> Several {
    Several {
        name,
        callers,
        budget,
        recovers,
        mistake: None,
    }
}

/// All configurations.
pub const CONFIGURATIONS: &[Several] = &[
    several("opposite orders", &[(BOTH, 2), (&[1, 0], 2)], NOTHING, 1),
    several(
        "one lock each",
        &[(BOTH, 1), (&[0], 1), (&[1], 1)],
        NOTHING,
        256,
    ),
    several("renewal", &[(BOTH, 1), (&[1], 1)], budget!(renewals: 2), 16),
    several(
        "giving up",
        &[(BOTH, 1), (&[1], 1)],
        budget!(give_ups: 1),
        16,
    ),
    several("crash", &[(BOTH, 1), (&[1, 0], 1)], budget!(crashes: 1), 16),
    several("torn", &[(BOTH, 1), (&[1], 1)], budget!(tears: 1), 256),
    several(
        "deleted",
        &[(BOTH, 1), (&[1, 0], 1)],
        budget!(deletions: 1),
        16,
    ),
    several(
        "deleted, renewal",
        &[(BOTH, 1), (&[1], 1)],
        budget!(deletions: 1, renewals: 1),
        64,
    ),
];

/// For walks.
pub const WALKS: &[Several] = &[several(
    "walk, several",
    &[(BOTH, 4), (&[1, 0], 4), (&[0], 3), (&[1], 3)],
    budget!(renewals: 4, give_ups: 3, tears: 2, crashes: 1),
    64,
)];

const NOTHING: Budget = Budget {
    renewals: 0,
    give_ups: 0,
    tears: 0,
    crashes: 0,
    deletions: 0,
};
