//! One lock that many tasks take in turns, in rounds that alternate with a floor.

use harness::RedisServer;

use crate::contestants::Kind;
use crate::findings::{Findings, Value};
use crate::log::Log;
use crate::meter::Meter;
use crate::stats::{float, median};

/// The figures of rounds: medians, and the number of violations of exclusion.
pub(super) struct Contest(Vec<Round>);

struct Round {
    log: Log,
    commands: u64,
    /// Per second, like the transfers.
    floor: f64,
}

impl Contest {
    /// This many rounds of a race, which gets a key, alternating with the floor. Counts the
    /// commands to these servers.
    pub(super) fn hold(
        rounds: usize,
        kind: Kind,
        servers: &[RedisServer],
        mut race: impl FnMut(&str) -> Log,
        mut floor: impl FnMut() -> f64,
    ) -> Contest {
        let rounds = (0..rounds).map(|round| {
            let before = sent_to(servers, kind);
            // A new lock each time, so that leftover records of peers do no harm.
            let log = race(&format!("{kind:?}:{round}"));
            let commands = sent_to(servers, kind) - before;
            let floor = floor();
            Round {
                log,
                commands,
                floor,
            }
        });
        Contest(rounds.collect())
    }

    /// The ratio of transfers to the floor, shown with the transfers' rate.
    pub(super) fn value(&self, least: f64) -> Value {
        let ratio = self.of(|round| round.log.rate() / round.floor);
        Value::at_least(least, ratio).of_rate(self.rate())
    }

    /// Transfers per second.
    pub(super) fn rate(&self) -> f64 {
        self.of(|round| round.log.rate())
    }

    /// The floor's rate in the same rounds.
    pub(super) fn floor(&self) -> f64 {
        self.of(|round| round.floor)
    }

    /// Commands per transfer.
    pub(super) fn commands(&self) -> f64 {
        let count = |commands: u64| float(usize::try_from(commands).expect("it fits"));
        self.of(|round| count(round.commands) / float(round.log.transfers().max(1)))
    }

    pub(super) fn fairness(&self) -> f64 {
        self.of(|round| round.log.fairness())
    }

    pub(super) fn demand_exclusion(&self, findings: &mut Findings, race: &str) {
        let broken: usize = self.0.iter().map(|round| round.log.violations()).sum();
        findings.demand(
            broken == 0,
            format!("{broken} bodies overlapped or had tokens that did not rise, {race}"),
        );
    }

    fn of(&self, value: impl Fn(&Round) -> f64) -> f64 {
        median(self.0.iter().map(value))
    }
}

/// The commands that this kind of client has sent to all servers.
fn sent_to(servers: &[RedisServer], kind: Kind) -> u64 {
    let sent = |server| Meter::new(server).calls(kind.commands());
    servers.iter().map(sent).sum()
}
