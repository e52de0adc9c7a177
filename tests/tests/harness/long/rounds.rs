//! Every violation in a round is found, and attributed to the right row.

use std::time::{Duration, Instant};

use harness::rounds::{Arena, Class, Round, Row, Tally, ViolationKind};
use harness::{Kind, PATIENCE, RedisCluster, RedisServer};

const TTL: Duration = Duration::from_secs(8);

const WORKER: [&str; 1] = [env!("CARGO_BIN_EXE_lock-worker")];

fn arena() -> Arena {
    Arena::new(&WORKER, Kind::Ours, 2)
}

/// A row on one server.
fn row(class: Class, run: fn(&mut Round<'_>)) -> Row {
    Row::new("row", class, RedisServer::start, run)
}

/// Plays two rounds of a row. Returns the kinds of violation in them.
fn play(row: &Row) -> (Tally, Vec<ViolationKind>) {
    let tally = arena().run(row, 2, Duration::MAX);
    assert_eq!(tally.rounds, 2);
    let mut kinds: Vec<_> = tally
        .violations
        .iter()
        .map(|(_, found)| found.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    (tally, kinds)
}

#[test]
fn permits_above_the_limit_are_found() {
    let row = row(Class::E, |round| {
        let other = RedisServer::start();
        let mut workers = [round.worker(), round.worker_at(&other.url())].map(|mut worker| {
            worker.ask_mode("permits 1");
            round.hold(worker, TTL)
        });
        for command in ["look", "write", "release"] {
            for worker in &mut workers {
                worker.ask(command, PATIENCE);
            }
        }
    });
    let (tally, kinds) = play(&row);
    assert_eq!((tally.double, tally.stale), (2, 0));
    assert_eq!(kinds, [ViolationKind::DoubleEntry]);
    let what = &tally.violations[0].1.what;
    assert!(
        what.starts_with("2 of 1 permits were taken at the end of "),
        "{what}"
    );
}

#[test]
fn a_write_that_the_resource_refuses_is_counted() {
    let row = row(Class::F, |round| {
        let mut old = round.holder(TTL);
        round.lock.delete_record();
        let mut next = round.holder(TTL);
        round.visit(&mut next);
        assert_eq!(old.ask("write", PATIENCE), "stale");
        round.lost(&mut old);
        round.release(&mut next);
    });
    let (tally, kinds) = play(&row);
    assert_eq!(kinds, []);
    assert_eq!((tally.stale, tally.refused), (0, 2));
}

#[test]
fn leftovers_on_a_node_of_a_cluster_are_found() {
    let start = || RedisCluster::with(2, 0);
    let row = Row::new(
        "left",
        Class::E,
        start,
        |round: &mut Round<'_, RedisCluster>| {
            let other = (0..).map(|number| format!("lock:other:{number}"));
            let owner = round.server.owner(&round.lock.k);
            let mut other = other.filter(|key| round.server.owner(key) != owner);
            let key = other.next().expect("each primary has keys");
            let _: () = round
                .server
                .ask(1 - owner, &["SET", &key, "another program"]);
        },
    );
    let tally = arena().run(&row, 1, Duration::MAX);
    assert_eq!(tally.violations.len(), 1);
    assert_eq!(tally.violations[0].1.kind, ViolationKind::LeftBehind);
}

#[test]
fn a_token_that_does_not_rise_is_found() {
    let start = || RedisServer::builder().own_clock().start();
    let row = Row::new("row", Class::F, start, |round| {
        let mut worker = round.holder(TTL);
        round.release(&mut worker);
        let fence = round.lock.f.clone();
        let _: i64 = round.lock.command(&["DEL", &fence]);
        round.server.back(Duration::from_secs(60));
        let mut worker = round.hold(worker, TTL);
        round.release(&mut worker);
    });
    assert_eq!(play(&row).1, [ViolationKind::TokenOrder]);
}

#[test]
fn a_late_grant_is_found() {
    let row = row(Class::E, |round| {
        let mut worker = round.worker();
        let since = Instant::now() - Duration::from_secs(4);
        round.ask(&mut worker, TTL, PATIENCE);
        round.granted_next(&worker, since, Duration::ZERO);
        round.release(&mut worker);
    });
    let (tally, kinds) = play(&row);
    assert_eq!(kinds, [ViolationKind::LateGrant]);
    assert!(tally.slowest >= Some(Duration::from_secs(4)));
}

#[test]
fn leftovers_are_found() {
    let row = row(Class::E, |round| {
        let key = round.lock.k.clone();
        round.lock.command::<()>(&["SET", &key, "another program"]);
    });
    let (tally, kinds) = play(&row);
    assert_eq!(kinds, [ViolationKind::LeftBehind]);
    let what = &tally.violations[0].1.what;
    assert!(what.starts_with("1 keys [\"lock:order:"), "{what}");
}

#[test]
fn a_process_that_still_holds_something_is_found() {
    let row = row(Class::E, |round| {
        let holder = round.holder(TTL);
        round.retire(holder);
    });
    let (tally, kinds) = play(&row);
    assert_eq!(kinds, [ViolationKind::LeftBehind]);
    let what = &tally.violations[0].1.what;
    assert_eq!(what, "a worker answered None to its shutdown");
}
