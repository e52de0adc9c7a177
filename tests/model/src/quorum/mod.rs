//! A lock that a majority of nodes holds: each node's scripts, and the ballot of each owner.
//!
//! This is a separate model: apart from its ballot, a client does the same as with one server, so
//! local queues, local turns and retained leases are omitted. An owner is one acquisition. The page
//! `docs/decisions/quorum.md` has the bounds and the counts.
//!
//! - [`records`], [`scripts`]: the records of one node, and its scripts as pure functions.
//! - `owner`: one owner, with the ballot of the runtime.
//! - `world`, `steps`, `ends`: nodes, owners, the messages in flight between them, and the steps
//!   that may come next.
//! - `recovery`: without further faults every owner is served.

mod configurations;
mod ends;
mod mistake;
mod owner;
pub mod records;
mod recovery;
pub mod scripts;
mod steps;
mod world;

pub use configurations::{CONFIGURATIONS, DEEP, WALKS, named};
pub use mistake::Mistake;
pub use world::World;

use records::{Owner, Ticks, Token};
use scripts::Rules;

use crate::control::SafetyLine;
use crate::explore::{Model, Property};

pub const EXCLUSION: &str = "no two holders are within their deadlines";
pub const TOKENS_RISE: &str = "a holder has a higher token than all earlier holders";
pub const BACKED: &str = "no holder relies on the lock for longer than a majority keeps it";
/// Nothing is left of an owner.
pub const PHANTOM: &str = "nothing is left of an owner on a node that carried out its end";
/// No livelock.
pub const RECOVERY: &str = "without further faults every owner is served and no record is left";
/// A minority that is away does not matter.
pub const MINORITY: &str = "while a node is away every owner is served";
/// A majority away.
pub const MAJORITY: &str =
    "while a majority is away no owner holds past a ttl, and nothing is left after it";

/// The tokens of a tick. Grants in one tick have tokens that differ by one, so they rarely overtake the clock.
const UNIT: Token = 8;

/// How often each event may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// A poll at a time that the ballot did not choose.
    pub polls: u8,
    /// Slow answers. All other answers are read immediately; commands and messages take any time.
    pub slow: u8,
    /// A holder renews on every node.
    pub renewals: u8,
    pub give_ups: u8,
    pub breaks: u8,
    /// A node loses its records and keeps its connections.
    pub flushes: u8,
    /// A node restarts with its saved records, or empty.
    pub restarts: u8,
    pub saves: u8,
    /// The clock of a node that restarted with a wrong one is corrected.
    pub corrections: u8,
}

#[derive(Clone, Copy, Debug)]
pub struct Quorum {
    pub name: &'static str,
    /// How far the clock of each node is ahead.
    pub clocks: &'static [Ticks],
    /// How far a node's clock may be ahead after a restart.
    pub restart_clocks: &'static [Ticks],
    /// The stamp of each owner.
    pub stamps: &'static [Token],
    pub ttl: Ticks,
    /// The time at which the search ends.
    pub horizon: Ticks,
    /// The token of a holder that has ended: one of its nodes has the fence, and the other has lost
    /// it.
    pub lost: Option<Token>,
    /// Faults, polls and renewals.
    pub budget: Budget,
    /// One in this many states is checked for recovery.
    pub recovers: u64,
    pub mistake: Option<Mistake>,
    pub removed: Option<SafetyLine>,
}

/// A step. The first number is an owner, the second a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Tick,
    /// An owner asks every node.
    Arrive(Owner),
    /// An owner begins another attempt.
    Poll(Owner),
    /// A node carries out the next command, and the owner reads the answer.
    Deliver(Owner, u8),
    /// The same, with a slow answer.
    DeliverSlow(Owner, u8),
    /// An owner reads a slow answer.
    Receive(Owner, u8),
    /// An owner reads a message.
    ReadPush(Owner, u8),
    /// A connection breaks, and all on it is lost.
    Break(Owner, u8),
    /// A connection breaks, and its command is late.
    BreakLate(Owner, u8),
    /// A node carries out a command of a connection that is gone.
    DeliverStray(u8),
    /// A command of a connection that is gone is lost.
    LoseStray(u8),
    Renew(Owner),
    Release(Owner),
    GiveUp(Owner),
    /// A node loses its records.
    Flush(u8),
    Save(u8),
    Restart(u8),
    /// A node restarts with its clock this far ahead.
    RestartAt(u8, Ticks),
    /// The clock of a node is corrected.
    Correct(u8),
}

impl Quorum {
    pub fn with(self, mistake: Mistake) -> Quorum {
        Quorum {
            mistake: Some(mistake),
            ..self
        }
    }

    pub fn without(self, line: SafetyLine) -> Quorum {
        Quorum {
            removed: Some(line),
            ..self
        }
    }

    fn rules(&self) -> Rules {
        Rules {
            claim: 1,
            live: self.ttl + 2,
            delay: self.ttl + 1,
            unit: UNIT,
            turns: 1,
            ahead: UNIT,
            behind: Token::MAX,
            mistake: self.mistake,
        }
    }

    fn loses_data(&self) -> bool {
        self.budget.flushes + self.budget.restarts > 0
    }
}

impl Model for Quorum {
    type State = World;
    type Action = Step;

    fn name(&self) -> &'static str {
        self.name
    }

    fn removed(&self) -> Option<SafetyLine> {
        // This mistake needs votes with different tokens.
        let of_mistake =
            (self.mistake == Some(Mistake::FirstToken)).then_some(SafetyLine::token_written_back);
        self.removed.or(of_mistake)
    }

    fn first(&self) -> World {
        World::new(self)
    }

    fn actions(&self, world: &World, actions: &mut Vec<Step>) {
        world.possible(self, actions);
    }

    fn step(&self, world: &mut World, step: Step) {
        world.step(step, self);
    }

    fn reduce(&self, world: &mut World) {
        world.reduce(self);
    }

    fn properties(&self) -> Vec<Property<Quorum>> {
        vec![
            Property::always(EXCLUSION, |_: &Quorum, world: &World, _| {
                world.is_exclusive()
            }),
            Property::always(TOKENS_RISE, |_: &Quorum, world: &World, _| {
                world.breach.is_none() && world.has_the_largest()
            }),
            Property::always(BACKED, |model: &Quorum, world: &World, _| {
                model.loses_data() || world.is_backed()
            }),
            Property::always(PHANTOM, |model: &Quorum, world: &World, _| {
                model.budget.saves > 0 || world.has_no_phantom()
            }),
            Property::always(RECOVERY, |model: &Quorum, world: &World, mark| {
                !mark.is_multiple_of(model.recovers) || recovery::ends_well(model, world)
            }),
            Property::always(MINORITY, |model: &Quorum, world: &World, mark| {
                !mark.is_multiple_of(model.recovers)
                    || (0..model.clocks.len())
                        .all(|node| recovery::ends_well_without(model, world, node))
            }),
            Property::always(MAJORITY, |model: &Quorum, world: &World, mark| {
                !mark.is_multiple_of(model.recovers) || recovery::is_bounded(model, world)
            }),
            Property::sometimes(
                "every owner has ended, and nothing is left",
                |_, world: &World, _| world.is_over(),
            ),
            Property::sometimes(
                "every event of the budget has happened",
                |_, world: &World, _| world.budget == Budget::default(),
            ),
        ]
    }
}
