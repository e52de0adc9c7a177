//! Explores the configurations of the tests, or the named ones.
//!
//! `--walk TIME`, such as `90s`, `10m` or `1h`, walks through the configurations for walks instead,
//! one after another, until the time is over or a rule is broken. The first walk has the number
//! `LOCK_TEST_SEED`, or a different one in each run.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use lock_model::quorum::{CONFIGURATIONS, DEEP};
use lock_model::{Enough, Explore, Report, Walked, configurations, seed};

const USAGE: &str = "usage: lock-model [--walk TIME] [NAME…]";

/// How long each configuration is walked before the next one has its turn.
const TURN: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--help"] => println!("{USAGE}"),
        ["--walk", time, names @ ..] => {
            let Some(time) = parse_time(time) else {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            };
            return walk(names, time);
        }
        names => explore(names),
    }
    ExitCode::SUCCESS
}

fn is_named(names: &[&str], name: &str) -> bool {
    names.is_empty() || names.contains(&name)
}

fn explore(names: &[&str]) {
    let all = configurations::all().into_iter();
    let named = all.filter(|configuration| is_named(names, configuration.name));
    named.for_each(|configuration| show(&configuration.explore()));
    // The deep configurations take long.
    let deep = DEEP.iter().filter(|_| !names.is_empty());
    let quorums = CONFIGURATIONS.iter().chain(deep);
    let named = quorums.filter(|quorum| is_named(names, quorum.name));
    named.for_each(|configuration| show(&configuration.explore()));
}

fn show(report: &Report) {
    println!("{report}");
    for steps in report.broken.values() {
        println!("{steps:#?}");
    }
}

/// Walks for this time. The walks of one configuration have consecutive numbers.
fn walk(names: &[&str], time: Duration) -> ExitCode {
    let all = lock_model::walks();
    let mut named: Vec<_> = all
        .iter()
        .filter(|(name, _)| is_named(names, name))
        .map(|(_, walk)| (walk, Walked::default()))
        .collect();
    let (begin, first) = (Instant::now(), seed());
    let mut turn = 0;
    while begin.elapsed() < time && !named.is_empty() {
        let (configuration, so_far) = &mut named[turn];
        let left = time.saturating_sub(begin.elapsed());
        let seed = first.wrapping_add(so_far.walks);
        so_far.add(configuration.walk(seed, Enough::Time(TURN.min(left))));
        if so_far.broken.is_some() {
            println!("{so_far}");
            return ExitCode::FAILURE;
        }
        turn = (turn + 1) % named.len();
    }
    for (_, walked) in named {
        println!("{walked}");
    }
    ExitCode::SUCCESS
}

fn parse_time(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok()?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        _ => return None,
    };
    Some(Duration::from_secs(number * seconds))
}
