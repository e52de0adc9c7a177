//! The fault table, ten rounds per row, or three. `lock-rounds` plays the same rows for any time.

use std::fs;
use std::path::Path;
use std::time::Duration;

use harness::rounds::{Arena, Report};
use harness::{Kind, rows};
use tokio::sync::Semaphore;

/// Rounds mostly wait, and each row is a test.
const AT_ONCE: usize = 10;

/// A round is a server and some processes. With more rows at once, they wait for a core, and the times
/// of the rows do not hold.
static ROWS_AT_ONCE: Semaphore = Semaphore::const_new(3);

macro_rules! rows {
    ($($name:ident),* $(,)?) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        $(#[tokio::test]
        async fn $name() {
            let _place = ROWS_AT_ONCE.acquire().await.expect("it stays open");
            // Blocks a runtime that has nothing else to run.
            play(stringify!($name));
        })*
    };
}

rows! {
    holder_killed,
    holder_exits,
    holder_aborts,
    holder_leaves,
    killed_while_retained,
    served_waiter_killed,
    waiter_killed,
    twenty_waiters_killed,
    holder_paused,
    waiter_paused,
    waiter_paused_past_its_wait,
    acquire_dropped,
    body_panics,
    body_blocks,
    body_blocks_past_its_lease,
    caller_polled_late,
    caller_never_polled,
    first_in_line_gives_up,
    runtime_dropped,
    in_memory,
    reply_cut,
    request_cut,
    release_cut,
    reply_late,
    reply_slow,
    renewal_slow,
    black_hole,
    half_open,
    clients_killed,
    server_demoted,
    push_lost,
    push_doubled,
    push_late,
    message_forged,
    name_moves,
    name_moves_without_lock,
    name_moves_while_retained,
    scripts_flushed,
    server_busy,
    server_loading,
    restart_with_aof,
    restart_without_persistence,
    lock_deleted,
    one_of_two_locks_deleted,
    everything_flushed,
    everything_evicted,
    server_clock_forward,
    server_clock_back,
    client_clock,
    out_of_memory,
    wrong_type,
    no_permission,
    wrong_password,
    killed_before_its_minimum,
    rest_cut,
    keys_in_opposite_orders,
    revoked_while_renewing,
    revoked_while_inside,
    revoked_while_handed_on,
    revoked_twice,
    revoked_without_fence,
    revoked_while_paused,
    revoked_unheard,
    revoked_readers,
    revoked_permits,
    revoked_one_of_two,
    reader_killed,
    permit_holder_killed,
    many_shares_killed,
    waiting_reader_killed,
    reader_paused,
    shares_evicted,
    lock_deleted_under_readers,
    writer_among_readers,
    downgraded_under_cuts,
    sharers_disconnected,
    sharers_killed,
    redisson_holder_killed,
    redisson_message_lost,
    redisson_forced_unlock,
    order,
    release_at_once,
    thousand_waiters,
    ten_thousand_keys,
    slots_move_under_load,
    records_move_apart,
    slot_half_moved,
    nodes_come_and_go,
    one_seed_left,
    message_late,
    bus_cut,
    cluster_failover_ordered,
    cluster_primary_killed,
    cluster_primary_stopped,
    renewal_not_replicated,
    replica_awaited,
    sentinel_primary_killed,
    two_sentinels_lost,
    sentinels_stale,
    cluster_replica_lacks_lock,
    cluster_primary_restarted,
    cluster_replica_takes_over,
    cluster_primary_cut_off,
    sentinel_failover_ordered,
    sentinel_replicas_lack_lock,
    quorum_node_killed,
    quorum_node_stopped,
    quorum_node_cut,
    quorum_node_refusing,
    quorum_minority_of_five,
    quorum_slow_node,
    quorum_majority_away,
    quorum_majority_killed,
    quorum_majority_refusing,
    quorum_node_wiped,
    quorum_minority_wiped,
    quorum_old_data,
    quorum_replica_promoted,
    quorum_replicas_promoted,
    quorum_all_wiped_one_by_one,
    quorum_all_wiped,
    quorum_restart_while_held,
    quorum_key_deleted,
    quorum_reply_cut,
    quorum_call_late,
    quorum_cede_late,
    quorum_hold_late,
    quorum_split_vote_killed,
    quorum_clock_of_a_node,
    quorum_clock_set_and_back,
    quorum_clock_of_a_waiter,
    quorum_node_ahead_killed,
    quorum_foreign,
    quorum_keys_deleted,
}

#[track_caller]
fn play(name: &str) {
    let row = rows::TABLE.iter().find(|row| row.name == name);
    let row = row.expect("the table has this row");
    let arena = Arena::new(&[env!("CARGO_BIN_EXE_lock-worker")], Kind::Ours);
    let tally = arena.run(row, row.rounds, AT_ONCE, Duration::MAX);
    assert_eq!(tally.rounds, row.rounds);
    let report = Report::from(tally);
    print!("{report}");
    assert!(report.is_clean(), "{report}");
}

#[test]
fn every_row_of_the_table_is_tested() {
    let table: Vec<_> = rows::TABLE.iter().map(|row| row.name).collect();
    assert_eq!(table, TESTED);
}

const PAGE: &str = include_str!("../../../lock-runtime/src/docs/faults.md");

/// The cells of those tables of the page that have this many columns.
fn lines<const CELLS: usize>() -> impl Iterator<Item = [&'static str; CELLS]> {
    PAGE.lines().filter_map(|line| {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        cells.try_into().ok()
    })
}

/// Each row is on the page as in the table, with its class and its name.
#[test]
fn the_page_has_every_row_and_no_other() {
    let told = lines().filter_map(|[_, class, _, row]| {
        let row = row.strip_prefix('`')?.strip_suffix('`')?;
        Some((row, class.to_owned()))
    });
    let rows = rows::TABLE.iter();
    let rows = rows.map(|row| (row.name, row.class.to_string()));
    assert_eq!(told.collect::<Vec<_>>(), rows.collect::<Vec<_>>());
}

/// The other tests that the page names are in the named files.
#[test]
fn the_page_names_no_test_that_is_not_there() {
    let named: Vec<_> = lines()
        .filter_map(|[_, _, test]| {
            let words: Vec<_> = test.split('`').collect();
            let ["", file, " ", name, ""] = words[..] else {
                return None;
            };
            Some((file, name))
        })
        .collect();
    assert_eq!(named.len(), 22, "{named:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, name) in named {
        // In this package, in one of its own, or beside the code.
        let paths = [
            root.join("tests").join(file),
            root.join(file),
            root.join("..").join(file),
        ];
        let source = paths.iter().find_map(|path| fs::read_to_string(path).ok());
        let source = source.unwrap_or_else(|| panic!("no {file}"));
        assert!(source.contains(&format!("fn {name}()")), "{file} {name}");
    }
}
