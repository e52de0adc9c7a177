//! The fault table, ten rounds a row. `lock-rounds` plays the same rows for as long as one likes.

use std::time::Duration;

use harness::rounds::{Arena, Report};
use harness::{Kind, rows};

const ROUNDS: usize = 10;

/// Rounds mostly wait, and a test has a row.
const AT_ONCE: usize = ROUNDS;

macro_rules! rows {
    ($($name:ident),* $(,)?) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            play(stringify!($name));
        })*
    };
}

rows! {
    holder_killed,
    holder_paused,
    reply_cut,
}

#[track_caller]
fn play(name: &str) {
    let row = rows::TABLE.iter().find(|row| row.name == name);
    let row = row.expect("the table has this row");
    let arena = Arena::new(&[env!("CARGO_BIN_EXE_lock-worker")], Kind::Ours);
    let tally = arena.run(row, ROUNDS, AT_ONCE, Duration::MAX);
    assert_eq!(tally.rounds, ROUNDS);
    let report = Report::from(tally);
    print!("{report}");
    assert!(report.is_clean(), "{report}");
}

#[test]
fn every_row_of_the_table_is_tested() {
    let table: Vec<_> = rows::TABLE.iter().map(|row| row.name).collect();
    assert_eq!(table, TESTED);
}
