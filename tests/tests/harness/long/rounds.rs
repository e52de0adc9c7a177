//! Rounds: every violation is found, and attributed to the right row.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use harness::rounds::{Arena, Class, Report, Round, Row, Tally, ViolationKind};
use harness::{Kind, PATIENCE, RedisCluster, RedisServer, wait_until};

const TTL: Duration = Duration::from_secs(8);

const WORKER: [&str; 1] = [env!("CARGO_BIN_EXE_lock-worker")];

fn arena(kind: Kind) -> Arena {
    Arena::new(&WORKER, kind, 2)
}

/// A row on one server.
fn row(class: Class, run: fn(&mut Round<'_>)) -> Row {
    Row::new("row", class, RedisServer::start, run)
}

/// Two rounds of a row, and the kinds of violation in them.
fn play(row: &Row, kind: Kind) -> (Tally, Vec<ViolationKind>) {
    let tally = arena(kind).run(row, 2, Duration::MAX);
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

/// Two workers are inside at once, since they lock on different servers.
fn two_inside(round: &mut Round<'_>) {
    let (one, other) = (round.worker(), RedisServer::start());
    let other_worker = round.worker_at(&other.url());
    let mut one = round.hold(one, TTL);
    let mut two = round.hold(other_worker, TTL);
    for command in ["look", "write"] {
        for worker in [&mut one, &mut two] {
            worker.ask(command, PATIENCE);
        }
    }
    round.release(&mut one);
    round.release(&mut two);
}

#[test]
fn a_double_entry_is_found_and_a_token_keeps_it_out_of_the_resource() {
    let row = row(Class::E, two_inside);
    let (tally, kinds) = play(&row, Kind::Ours);
    assert_eq!((tally.double, tally.stale), (2, 0));
    assert_eq!(kinds, [ViolationKind::DoubleEntry]);
    let report = Report::from(tally);
    assert!(!report.is_clean());
    assert!(
        report
            .to_string()
            .contains("VIOLATION row round 0: double entry: "),
        "{report}"
    );
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
    let (tally, kinds) = play(&row, Kind::Ours);
    assert_eq!((tally.double, tally.stale), (2, 0));
    assert_eq!(kinds, [ViolationKind::DoubleEntry]);
    let what = &tally.violations[0].1.what;
    assert!(
        what.starts_with("2 of 1 permits were taken at the end of "),
        "{what}"
    );
}

#[test]
fn a_double_entry_is_counted_where_no_lease_can_hold() {
    let row = row(Class::F, two_inside);
    let (tally, kinds) = play(&row, Kind::Ours);
    assert_eq!((tally.double, tally.stale), (2, 0));
    assert_eq!(kinds, []);
}

#[test]
fn without_a_token_the_resource_takes_a_stale_write() {
    let row = row(Class::F, two_inside);
    let (tally, kinds) = play(&row, Kind::Plain);
    assert_eq!((tally.double, tally.stale), (2, 2));
    assert_eq!(kinds, [ViolationKind::StaleWrite]);
}

/// The lock is deleted, and another process is granted it.
fn granted_again(round: &mut Round<'_>) -> harness::Worker {
    let lock = round.lock.k.clone();
    assert_eq!(round.lock.command::<i64>(&["DEL", &lock]), 1);
    round.holder(TTL)
}

#[test]
fn a_write_that_the_resource_refuses_is_counted() {
    let row = row(Class::F, |round| {
        let mut old = round.holder(TTL);
        let mut next = granted_again(round);
        round.visit(&mut next);
        assert_eq!(old.ask("write", PATIENCE), "stale");
        round.lost(&mut old);
        round.release(&mut next);
    });
    let (tally, kinds) = play(&row, Kind::Ours);
    assert_eq!(kinds, []);
    assert_eq!((tally.stale, tally.refused), (0, 2));
}

#[test]
fn time_with_two_holders_is_reported() {
    let row = row(Class::F, |round| {
        let mut old = round.worker();
        old.send(&round.command("run", TTL, PATIENCE, "persist"));
        wait_until("write", PATIENCE, || round.has_written(&old));
        let mut next = granted_again(round);
        round.ended_after_grant(&old, TTL);
        round.release(&mut next);
    });
    let (mut tally, kinds) = play(&row, Kind::Ours);
    assert_eq!((kinds, tally.windows.len()), (vec![], 2));
    tally.windows = [3, 1, 7].map(Duration::from_millis).to_vec();
    let report = Report::from(tally).to_string();
    assert!(report.contains(" 3 ms, 7 ms "), "{report}");
}

/// A cluster takes two seconds to start.
#[test]
fn a_cluster_is_used_again_unless_a_round_has_failed() {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let start = || {
        STARTED.fetch_add(1, Ordering::Relaxed);
        RedisCluster::with(1, 0)
    };
    let row = Row::new(
        "reused",
        Class::E,
        start,
        |round: &mut Round<'_, RedisCluster>| {
            assert_ne!(round.variant, 1, "as told");
            let mut holder = round.holder(TTL);
            round.release(&mut holder);
            round.retire(holder);
        },
    )
    .of(4);
    let one_at_a_time = Arena::new(&WORKER, Kind::Ours, 1);
    let tally = one_at_a_time.run(&row, 4, Duration::MAX);
    assert_eq!((tally.rounds, tally.violations.len()), (4, 1));
    assert_eq!(STARTED.load(Ordering::Relaxed), 2);
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
    let tally = arena(Kind::Ours).run(&row, 1, Duration::MAX);
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
    assert_eq!(play(&row, Kind::Ours).1, [ViolationKind::TokenOrder]);
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
    let (tally, kinds) = play(&row, Kind::Ours);
    assert_eq!(kinds, [ViolationKind::LateGrant]);
    assert!(tally.slowest >= Some(Duration::from_secs(4)));
}

#[test]
fn leftovers_are_found() {
    let row = row(Class::E, |round| {
        let key = round.lock.k.clone();
        round.lock.command::<()>(&["SET", &key, "another program"]);
    });
    let (tally, kinds) = play(&row, Kind::Ours);
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
    let (tally, kinds) = play(&row, Kind::Ours);
    assert_eq!(kinds, [ViolationKind::LeftBehind]);
    let what = &tally.violations[0].1.what;
    assert_eq!(what, "a worker answered None to its shutdown");
}

#[test]
fn an_unmet_expectation_is_found() {
    let row = row(Class::E, |_| panic!("as told"));
    let (tally, kinds) = play(&row, Kind::Ours);
    assert_eq!(kinds, [ViolationKind::Unexpected]);
    assert_eq!(tally.violations[0].1.to_string(), "unexpected: as told");
}

#[test]
fn no_round_but_the_first_begins_after_the_budget() {
    let row = row(Class::E, |_| {});
    let arena = arena(Kind::Ours);
    assert_eq!(arena.run(&row, 1_000, Duration::ZERO).rounds, 1);
    let some = arena.run(&row, 100_000, Duration::from_millis(300));
    assert!((1..100_000).contains(&some.rounds), "{}", some.rounds);
}
