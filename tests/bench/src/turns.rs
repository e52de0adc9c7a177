//! Many processes with many tasks each take turns on one lock.

use std::time::{Duration, Instant};

use harness::{Entry, History, PATIENCE, RedisServer};

use crate::report::Report;
use crate::worker;

const KEY: &str = "turns:1";
const PROCESSES: usize = 4;
const TASKS: usize = 8;

/// How long the floor is measured.
const FLOOR: Duration = Duration::from_secs(2);

pub(crate) async fn measure(report: &mut Report, time: Duration) {
    let server = RedisServer::start();
    let floor = visits_without_a_lock(&server).await;

    let mut workers: Vec<_> = (0..PROCESSES).map(|_| worker(&server)).collect();
    for worker in &mut workers {
        // So that all of them are connected when the race begins.
        let answer = worker.ask(&format!("acquire {KEY} 30000 20000"), PATIENCE);
        assert!(answer.starts_with("held "), "{answer}");
        assert_eq!(worker.ask("release", PATIENCE), "ok");
    }
    let hammer = format!("hammer {KEY} 30000 20000 {TASKS} {}", time.as_millis());
    workers.iter_mut().for_each(|worker| worker.send(&hammer));
    let tallies: Vec<String> = workers
        .iter()
        .map(|worker| worker.line(time + PATIENCE).expect("a tally"))
        .collect();
    let shares: Vec<usize> = tallies.iter().filter_map(|tally| visits(tally)).collect();
    report.demand(
        shares.len() == PROCESSES,
        &format!("an acquisition failed: {tallies:?}"),
    );

    let entries = History::of(KEY).read(&mut server.connection());
    let total: usize = shares.iter().sum();
    let lost = History::double_entries(&entries).len() + total.abs_diff(entries.len());
    let rising = entries.is_sorted_by(|one, next| one.token < next.token);
    let transfers = entries
        .windows(2)
        .filter(|pair| pair[0].writer != pair[1].writer)
        .count();
    let (least, most) = (
        shares.iter().min().copied().unwrap_or(0),
        shares.iter().max().copied().unwrap_or(0),
    );

    let title = |figure: &str| {
        let time = time.as_secs();
        format!("{PROCESSES} processes × {TASKS} tasks, {time} s: {figure}")
    };
    report.row(&title("turns"), total, "");
    report.row(
        &title("turns a second"),
        format!("{:.0}", rate(total, time)),
        format!("{floor:.0} (one task, no lock)"),
    );
    report.row(
        &title("from process to process a second"),
        format!("{:.0}", rate(transfers, time)),
        "",
    );
    report.row(
        &title("turns a process, least / most"),
        format!("{least} / {most} (× {:.3})", ratio(most, least)),
        "× 1",
    );
    report.row(&title("updates lost"), lost, 0);
    report.row(
        &title("tokens that did not rise"),
        if rising { "none" } else { "some" },
        "none",
    );
    report.demand(lost == 0, "no update is lost");
    report.demand(rising, "tokens rise");
}

/// How many visits a second one task makes if nobody has to be asked.
async fn visits_without_a_lock(server: &RedisServer) -> f64 {
    let mut resource = server.async_connection().await;
    let history = History::of("no-lock");
    let start = Instant::now();
    let mut visits = 0;
    while start.elapsed() < FLOOR {
        let seen = history.look(&mut resource, 0).await.expect("it answers");
        let entry = Entry {
            token: 0,
            seen,
            writer: "nobody".to_owned(),
        };
        let written = history.append(&mut resource, &entry).await;
        assert!(written.expect("it answers"));
        visits += 1;
    }
    rate(visits, start.elapsed())
}

/// The visits of a hammer without any failure.
fn visits(tally: &str) -> Option<usize> {
    tally.strip_prefix("hammered ")?.parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
fn ratio(most: usize, least: usize) -> f64 {
    most as f64 / least as f64
}
