//! Explores every configuration to exhaustion: no rule is broken, and every scenario was seen.

use std::io::Write;

use lock_model::{configurations, explore};

fn exhaust(name: &str) {
    let report = explore(&configurations::named(name));
    // `eprintln!` would be captured by the test harness.
    let line = format!("{report}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("stderr is open");
    assert!(report.broken.is_empty(), "{:#?}", report.broken);
    assert!(report.unseen.is_empty(), "{report}");
}

/// A test for each configuration, and one that fails if a configuration has no test.
macro_rules! explorations {
    ($($test:ident: $name:literal,)+) => {
        $(#[test]
        fn $test() {
            exhaust($name);
        })+

        #[test]
        fn every_configuration_is_explored() {
            let explored = [$($name),+];
            for configuration in configurations::all() {
                assert!(explored.contains(&configuration.name), "{}", configuration.name);
            }
        }
    };
}

explorations! {
    deletes_three_clients: "deletes, three clients",
    deletes_lost: "deletes, lost",
    deletes_doubled: "deletes, doubled",
    deletes_torn: "deletes, torn",
    deletes_deleted: "deletes, deleted",
    deletes_failover: "deletes, failover",
    deletes_turns: "deletes, turns",
    three_clients: "three clients",
    giving_up: "giving up",
    local_queue: "local queue",
    two_local_queues: "two local queues",
    attempts: "attempts",
    renewal: "renewal",
    short_leases: "short leases",
    crash: "crash",
    unsubscribed: "unsubscribed",
    uncounted: "uncounted",
    shutdown: "shutdown",
    shutdown_sync: "shutdown, sync",
    lost: "lost",
    lost_with_a_successor: "lost with a successor",
    lost_renewals: "lost renewals",
    doubled: "doubled",
    doubled_with_a_successor: "doubled with a successor",
    late: "late",
    unknown_announcements: "unknown announcements",
    unknown_announcements_forgotten: "unknown announcements, forgotten",
    torn: "torn",
    torn_giving_up: "torn, giving up",
    torn_with_a_successor: "torn with a successor",
    torn_mixed_ttls: "torn, mixed ttls",
    forgotten_scripts: "forgotten scripts",
    restart: "restart",
    empty_restart: "empty restart",
    failover: "failover",
    clock: "clock",
    clock_behind: "clock behind",
    evicted: "evicted",
    out_of_memory: "out of memory",
    migration: "migration",
    migration_with_a_successor: "migration with a successor",
    wrong_fence: "wrong fence",
    wrong_queue: "wrong queue",
    slot_moves: "slot moves",
    slot_moves_with_a_successor: "slot moves with a successor",
    slot_moves_giving_up: "slot moves, giving up",
    slot_moves_deletes: "slot moves, deletes",
    slot_moves_clock_behind: "slot moves, clock behind",
    takeover_clock_behind: "takeover, clock behind",
    takeover_clock_ahead: "takeover, clock ahead",
    lost_suffix: "lost suffix",
    lost_suffix_giving_up: "lost suffix, giving up",
    lost_suffix_clock_behind: "lost suffix, clock behind",
    two_primaries: "two primaries",
    two_primaries_renewal: "two primaries, renewal",
    two_primaries_torn: "two primaries, torn",
    two_primaries_successor: "two primaries, successor",
    foreign_holder: "foreign holder",
    eternal_foreign_holder: "eternal foreign holder",
    deleted: "deleted",
    wrong_lock: "wrong lock",
    turns: "turns",
    three_turns: "three turns",
    turns_of_mixed_ttls: "turns of mixed ttls",
    turns_giving_up: "turns, giving up",
    turns_renewal: "turns, renewal",
    turns_crash: "turns, crash",
    turns_lost: "turns, lost",
    turns_torn: "turns, torn",
    turns_against_turns: "turns against turns",
    turns_deleted: "turns, deleted",
    retained: "retained",
    retained_by_both: "retained by both",
    retained_mixed_ttls: "retained, mixed ttls",
    retained_attempts: "retained, attempts",
    retained_giving_up: "retained, giving up",
    retained_renewal: "retained, renewal",
    retained_crash: "retained, crash",
    retained_lost: "retained, lost",
    retained_torn: "retained, torn",
    retained_shutdown: "retained, shutdown",
    retained_deleted: "retained, deleted",
    readers_and_a_writer: "readers and a writer",
    readers_and_a_writers_end: "readers and a writer's end",
    readers_renewal: "readers, renewal",
    readers_of_mixed_ttls: "readers of mixed ttls",
    permits: "permits",
    permits_and_a_lock: "permits and a lock",
    permits_short_walks: "permits, short walks",
    shares_crash: "shares, crash",
    shares_lost: "shares, lost",
    shares_doubled: "shares, doubled",
    permits_doubled: "permits, doubled",
    shares_giving_up: "shares, giving up",
    shares_torn: "shares, torn",
    shares_late: "shares, late",
    shares_unsubscribed: "shares, unsubscribed",
    shares_uncounted: "shares, uncounted",
    shares_shutdown: "shares, shutdown",
    shares_forgotten_scripts: "shares, forgotten scripts",
    shares_evicted: "shares, evicted",
    shares_deleted: "shares, deleted",
    shares_failover: "shares, failover",
    shares_clock: "shares, clock",
    shares_out_of_memory: "shares, out of memory",
    shares_migration: "shares, migration",
    shares_wrong_records: "shares, wrong records",
    shares_foreign_holder: "shares, foreign holder",
    downgrade: "downgrade",
    downgrade_lost: "downgrade, lost",
    downgrade_torn: "downgrade, torn",
    downgrade_turns: "downgrade, turns",
    downgrade_writers: "downgrade, writers",
    rest: "rest",
    rest_local_queue: "rest, local queue",
    rest_turns: "rest, turns",
    rest_reader: "rest, reader",
    rest_renewal: "rest, renewal",
    rest_lost: "rest, lost",
    rest_doubled: "rest, doubled",
    rest_late: "rest, late",
    rest_torn: "rest, torn",
    rest_forgotten_scripts: "rest, forgotten scripts",
    rest_crash: "rest, crash",
    rest_shutdown: "rest, shutdown",
    rest_deleted: "rest, deleted",
    rest_impaired: "rest, impaired",
}
