//! One lock that many tasks take in turns, in rounds alternating with the floor.

use std::time::Duration;

use harness::RedisServer;

use super::Setting;
use crate::contestants::Kind;
use crate::effort::Effort;
use crate::findings::{Findings, Goal, Value};
use crate::log::{Log, commands_each};
use crate::meter::Meter;
use crate::ping_pong::ping_pong;
use crate::runtimes::Flavour;
use crate::stats::{float, median};

/// The results of a race.
#[derive(Clone, Copy, Debug)]
struct Round {
    rate: f64,
    floor: f64,
    task_fairness: f64,
    process_fairness: f64,
    longest_wait: f64,
    commands: f64,
}

/// The results of a contestant's rounds: medians, and the number of violations of exclusion.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    rounds: Vec<Round>,
    overlaps: usize,
    stale_tokens: usize,
}

impl Contest {
    /// Runs the race alternately with the floor: `race` gets a key and its time.
    pub(super) fn hold(
        kind: Kind,
        setting: Setting,
        per_process: u32,
        server: &RedisServer,
        mut race: impl FnMut(&str, Duration) -> Log,
    ) -> Contest {
        let mut contest = Contest {
            rounds: Vec::new(),
            overlaps: 0,
            stale_tokens: 0,
        };
        let (rounds, time) = rounds(kind, &setting.effort);
        let mut meter = Meter::new(server);
        for round in 0..rounds {
            let before = meter.calls(kind.commands());
            // A new lock each time, so that records that peers leave behind do no harm.
            let log = race(&format!("{kind:?}:{round}"), time);
            let commands = meter.calls(kind.commands()) - before;
            contest.overlaps += log.overlaps();
            if kind.is_ours() {
                contest.stale_tokens += log.stale_tokens();
            }
            contest.rounds.push(Round {
                rate: log.rate(),
                floor: floor(server, time.min(setting.effort.slice)),
                task_fairness: log.fairness(1),
                process_fairness: log.fairness(per_process),
                longest_wait: log.longest_wait(),
                commands: commands_each(commands, log.transfers()),
            });
        }
        contest
    }

    /// The figures of a race beside its speed, for both settings: this one's and `on`'s.
    pub(super) fn describe(&self, findings: &mut Findings, on: &Contest, race: &str) {
        let both = |value: fn(&Contest) -> f64, goals: [Goal; 2]| {
            let [off, on] = [(self, goals[0]), (on, goals[1])]
                .map(|(contest, goal)| Value::new(goal, value(contest)));
            [off, on]
        };
        findings.figures(
            &format!("Jain index over {race}; off / on"),
            &both(Contest::task_fairness, [Goal::AtLeast(0.99); 2]),
            1,
        );
        findings.figures(
            &format!("longest wait of {race}, in tasks × mean hand-off; off / on"),
            &both(Contest::longest_wait, [Goal::AtMost(5.0); 2]),
            1,
        );
        findings.figures(
            &format!("commands per transfer, {race}; off / on"),
            &both(Contest::commands, [Goal::AtMost(2.05), Goal::AtMost(0.2)]),
            1,
        );
        let broken = |contest: &Contest| float(contest.overlaps + contest.stale_tokens);
        findings.figures(
            &format!("bodies that overlapped and tokens that did not rise, {race}; off / on"),
            &both(broken, [Goal::AtMost(0.0); 2]),
            0,
        );
        for contest in [self, on] {
            let Contest {
                overlaps,
                stale_tokens,
                ..
            } = contest;
            findings.demand(
                *overlaps == 0,
                &format!("{overlaps} bodies overlapped, {race}"),
            );
            let stale = format!("{stale_tokens} tokens did not rise, {race}");
            findings.demand(*stale_tokens == 0, &stale);
        }
    }

    /// Transfers per second.
    pub(super) fn rate(&self) -> f64 {
        self.of(|round| round.rate)
    }

    /// Messages per second of the floor in the same rounds.
    pub(super) fn floor(&self) -> f64 {
        self.of(|round| round.floor)
    }

    /// The ratio of transfers to the floor's messages.
    pub(super) fn ratio(&self) -> f64 {
        self.of(|round| round.rate / round.floor)
    }

    fn task_fairness(&self) -> f64 {
        self.of(|round| round.task_fairness)
    }

    pub(super) fn process_fairness(&self) -> f64 {
        self.of(|round| round.process_fairness)
    }

    fn longest_wait(&self) -> f64 {
        self.of(|round| round.longest_wait)
    }

    pub(super) fn commands(&self) -> f64 {
        self.of(|round| round.commands)
    }

    fn of(&self, value: fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(value))
    }
}

/// The number and length of the rounds: peers sleep for longer than a slice of this project's client.
fn rounds(kind: Kind, effort: &Effort) -> (usize, Duration) {
    if kind.is_ours() {
        (effort.rounds, effort.slice)
    } else {
        (effort.peer_rounds, effort.peer_slice)
    }
}

/// On a runtime of its own, of the kind that the contestants in this process use.
fn floor(server: &RedisServer, time: Duration) -> f64 {
    let url = server.url();
    Flavour::MultiThread.run(async move { ping_pong(&url, time).await })
}
