//! The fault table: a test per row. The short form plays one round of each variant. The long form plays ten rounds, or
//! three of the longest rows; one of each variant if walks through the model explore the row.
//!
//! `lock-rounds` plays the same rows for as long as you like.

mod page;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::rounds::{Arena, Report, Row, Tally};
use harness::{Form, Kind, rows};
use libtest_mimic::{Arguments, Trial};

/// This many rounds run on one server at once, since they spend most of their time waiting.
const AT_ONCE: usize = 24;

/// The number of rows with the longest rounds that are named at the end.
const NAMED: usize = 5;

fn main() -> ExitCode {
    let mut args = Arguments::from_args();
    let at_once = *args.test_threads.get_or_insert(AT_ONCE);
    let worker = [env!("CARGO_BIN_EXE_lock-worker")];
    let arena = Arc::new(Arena::new(&worker, Kind::Ours, at_once));
    let times = Arc::new(Mutex::new(Vec::new()));
    let mut trials: Vec<_> = in_turn(rows::table())
        .into_iter()
        .map(|row| {
            let (arena, times) = (Arc::clone(&arena), Arc::clone(&times));
            Trial::test(row.name, move || {
                let tally = play(&arena, &row);
                let mut times = times.lock().expect("no one panics with it");
                times.push((tally.took, row.name));
                drop(times);
                let report = Report::from(tally);
                if report.is_clean() {
                    Ok(())
                } else {
                    Err(report.to_string().into())
                }
            })
        })
        .collect();
    trials.extend([
        checked(
            "the_page_has_every_row_and_no_other",
            page::has_every_row_and_no_other,
        ),
        checked(
            "the_page_names_only_existing_tests",
            page::names_only_existing_tests,
        ),
        checked(
            "the_page_has_the_test_that_notices_each_control",
            page::has_the_test_that_notices_each_control,
        ),
    ]);
    let conclusion = libtest_mimic::run(&args, trials);
    let mut times = times.lock().expect("no one panics with it");
    times.sort_unstable();
    for (time, name) in times.iter().rev().take(NAMED) {
        println!("{name}: {time:.1?}");
    }
    conclusion.exit_code()
}

/// Alternates rows on a cluster, on a quorum and on one server: starting many clusters at once takes the machine's
/// whole time, and sentinels that notice the stall pause for half a minute. The rows on one server, the most numerous,
/// fill the end.
fn in_turn(rows: Vec<Row>) -> Vec<Row> {
    let mut kinds = BTreeMap::<_, usize>::new();
    let turns = rows.into_iter().map(|row| {
        let taken = kinds.entry(row.places).or_default();
        *taken += 1;
        ((*taken, Reverse(row.places)), row)
    });
    let mut rows: Vec<_> = turns.collect();
    rows.sort_by_key(|(turn, _)| *turn);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn play(arena: &Arena, row: &Row) -> Tally {
    let rounds = Form::of_this_run().pick(row.variants, row.rounds());
    let tally = arena.run(row, rounds, Duration::MAX);
    assert_eq!(tally.rounds, rounds);
    tally
}

fn checked(name: &str, check: fn()) -> Trial {
    Trial::test(name, move || {
        check();
        Ok(())
    })
}
