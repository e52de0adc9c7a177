//! What one client knows, as the parts of the runtime below the keeper know it: `wait` (line,
//! contender), `roster` and `watchdog` (holds), `reaper` (ends).

use crate::chain::Chain;
use crate::network::Link;
use crate::server::{Ticks, Token};

/// A process with one client in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Client {
    pub(crate) alive: bool,
    /// The server counts it as a receiver of announcements.
    pub(crate) heard: bool,
    /// Calls that have not begun.
    pub(crate) to_come: u8,
    /// Somebody heads the line.
    pub(crate) headed: bool,
    /// The ttls of those who wait behind.
    pub(crate) line: Vec<Ticks>,
    /// The next owner's number.
    pub(crate) next: u8,
    pub(crate) episodes: Vec<Episode>,
    pub(crate) link: Link,
}

/// An owner that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Episode {
    pub(crate) number: u8,
    /// The ttl of the caller that has it now.
    pub(crate) ttl: Ticks,
    /// It heads the line, and owes the next one its turn.
    pub(crate) heads: bool,
    /// A command of its chain is under way.
    pub(crate) waiting: bool,
    pub(crate) chain: Chain,
    pub(crate) phase: Phase,
}

/// How far an owner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Phase {
    Competing {
        /// One attempt, and no place in the queue.
        once: bool,
        /// It was told that another holds the lock.
        contended: bool,
    },
    /// Named in an end that is not answered yet.
    Named,
    Held(Hold),
    Ending {
        step: Step,
        /// How long anything of it can last.
        left: Ticks,
        unanswered: bool,
        /// The last end was sent when nothing of it could arrive any more.
        late: bool,
    },
}

/// A lock that was had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Hold {
    pub(crate) token: Token,
    /// How long its holder relies on it, by the holder's clock.
    pub(crate) deadline: Ticks,
    pub(crate) body: Body,
    pub(crate) lost: bool,
    pub(crate) contended: bool,
    /// A renewal is under way.
    pub(crate) renewing: bool,
    /// How often it was passed on since the grant.
    pub(crate) turn: u8,
    /// How long ago the grant was; kept up to where it matters.
    pub(crate) since: Ticks,
    /// For how long the lease is still retained; zero unless it is.
    pub(crate) retained: Ticks,
    /// The connection broke since the grant; kept where it matters.
    pub(crate) torn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Body {
    /// The lock is had and not handed over.
    Outside,
    Inside,
    /// It is over, and the lease is retained for the next caller.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Step {
    Release,
    End,
    /// End, with the next owner named.
    Bequeath(u8),
    /// Ended once; again for as long as it may be needed.
    Settle,
}

/// What the head of a line leaves to the next one.
pub(crate) enum Turn {
    Start,
    Queued(Episode),
    /// Granted for the episode's ttl, with flag and token, so long ago.
    Granted(Episode, Token, bool, Ticks),
}

impl Episode {
    pub(crate) fn new(number: u8, ttl: Ticks, heads: bool, phase: Phase) -> Episode {
        Episode {
            number,
            ttl,
            heads,
            waiting: false,
            chain: Chain::default(),
            phase,
        }
    }

    pub(crate) fn hold(&self) -> Option<&Hold> {
        match &self.phase {
            Phase::Held(hold) => Some(hold),
            _ => None,
        }
    }
}

impl Hold {
    /// Whether its holder may go on.
    pub(crate) fn is_valid(&self) -> bool {
        !self.lost && self.deadline > 0
    }
}

impl Client {
    pub(crate) fn new(calls: u8) -> Client {
        Client {
            alive: true,
            heard: true,
            to_come: calls,
            ..Client::default()
        }
    }

    pub(crate) fn find(&self, number: u8) -> Option<usize> {
        self.episodes
            .iter()
            .position(|episode| episode.number == number)
    }

    pub(crate) fn holds(&self) -> impl Iterator<Item = (u8, &Hold)> {
        self.episodes
            .iter()
            .filter_map(|episode| Some((episode.number, episode.hold()?)))
    }

    pub(crate) fn new_number(&mut self) -> u8 {
        self.next += 1;
        self.next - 1
    }

    /// Whether it has nothing left to do.
    pub(crate) fn is_idle(&self) -> bool {
        !self.alive || self.to_come == 0 && !self.headed && self.episodes.is_empty()
    }

    pub(crate) fn tick(&mut self, oldest: Ticks, spell: Ticks) {
        self.link.tick(oldest);
        for episode in &mut self.episodes {
            match &mut episode.phase {
                Phase::Held(hold) => {
                    hold.deadline = (hold.deadline - 1).max(0);
                    hold.since = (hold.since + 1).min(spell);
                    hold.retained = (hold.retained - 1).max(0);
                }
                Phase::Ending {
                    step: Step::Settle,
                    left,
                    ..
                } => *left = (*left - 1).max(0),
                _ => {}
            }
        }
    }
}
