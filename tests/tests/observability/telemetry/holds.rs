//! How holds end: the outcome of the span, the event, and the metrics. Failures are reported inside the span, also by
//! the background thread.

use harness::{server_and_proxy, token_of};
use lock_runtime::{FencingToken, LockGuard, distributed_lock, in_current_hold};
use tokio::task::JoinHandle;

use super::meter::sum;
use super::{LONG, LockClient, LockError, client, delete, eventually, ms, server_and_client};
use crate::journal::{Line, only, told};

#[distributed_lock(key = "fails:<id>", ttl = "6s", wait = LONG, client = locks, token = _token)]
async fn fails(locks: &LockClient, id: u8, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    Ok(())
}

fn counted(metric: &str, labels: &str) -> f64 {
    sum(&format!(
        "distributed_lock_{metric}{{template=fails:<id>{labels}}}"
    ))
}

fn losses(reason: &str) -> f64 {
    counted("losses_total", &format!(",reason={reason}"))
}

/// The last of `count` holds.
fn hold(count: usize, outcome: &str) -> Line {
    let mut holds = told("lock_hold", "fails:<id>");
    assert_eq!(holds.len(), count);
    let hold = holds.remove(count - 1);
    assert_eq!(hold.field("outcome"), outcome);
    hold
}

/// Asserts that an event is about that hold.
fn is_of(event: &Line, hold: &Line) {
    assert_eq!(event.parent, Some("lock_hold"));
    assert_eq!(event.number("token"), hold.number("token"));
}

#[tokio::test]
async fn failed_renewal_loss_and_unanswered_release_are_reported_and_counted() {
    crate::record();
    let (server, proxy) = server_and_proxy();
    let locks = client(proxy.url());
    let renewals = |outcome| counted("renewals_total", &format!(",outcome={outcome}"));
    let failures = || told("renewal_failed", "fails:<id>");
    let body = async || {
        eventually("renewal", LONG, async || renewals("confirmed") > 0.0).await;
        proxy.refuse(true);
        proxy.kill_connections();
        eventually("failed renewal", LONG, async || !failures().is_empty()).await;
        proxy.refuse(false);
    };
    fails(&locks, 1, body).await.unwrap();
    let failed = failures().remove(0);
    assert_eq!(failed.parent, Some("lock_hold"));
    assert!(!failed.field("fault").is_empty());
    // Earlier failures are not logged: the broken connection was reported, and no regular renewal was due.
    let count = u64::try_from(failed.number("failures")).unwrap();
    assert!(count.is_power_of_two(), "{count}");
    assert!(renewals("failed") > 0.0);
    hold(1, "released");

    let body = async || {
        proxy.refuse(true);
        proxy.kill_connections();
        std::future::pending().await
    };
    assert!(fails(&locks, 1, body).await.unwrap_err().is_lost());
    assert_eq!((losses("expired"), losses("not_ours")), (1.0, 0.0));
    proxy.refuse(false);

    let body = async || {
        delete(&server, "fails:1");
        std::future::pending().await
    };
    assert!(fails(&locks, 1, body).await.unwrap_err().is_lost());
    assert_eq!((losses("expired"), losses("not_ours")), (1.0, 1.0));
    let lost = told("lock_lost", "fails:<id>");
    let reasons = ["ran out", "no record"];
    assert_eq!(lost.len(), reasons.len(), "{lost:?}");
    for (lost, reason) in lost.iter().zip(reasons) {
        assert_eq!(lost.field("function"), "fails");
        assert!(lost.field("reason").contains(reason), "{lost:?}");
    }
    is_of(&lost[1], &hold(3, "lost"));

    assert_eq!(counted("unconfirmed_releases_total", ""), 0.0);
    fails(&locks, 1, async || proxy.black_hole()).await.unwrap();
    assert_eq!(counted("unconfirmed_releases_total", ""), 1.0);
    is_of(
        &only("release_unconfirmed", "fails:<id>"),
        &hold(4, "unconfirmed"),
    );
    // Not reported as a loss, even if the ttl ended before an answer came.
    assert_eq!(losses("expired"), 1.0, "it was held until the end");
}

#[distributed_lock(key = "cancelled:<id>", client = locks)]
async fn cancelled(locks: &LockClient, id: u8) -> Result<(), LockError> {
    std::future::pending().await
}

#[distributed_lock(key = "passed-on:<id>", client = locks)]
async fn turn(locks: &LockClient, id: u8) -> Result<(), LockError> {
    tokio::time::sleep(ms(30)).await;
    Ok(())
}

#[distributed_lock(key = "retained:<id>", ttl = "600s", retain = "200s", client = locks)]
async fn retained(locks: &LockClient, id: u8) -> Result<(), LockError> {
    Ok(())
}

fn outcomes(template: &str) -> Vec<String> {
    let holds = told("lock_hold", template);
    let outcomes = holds.iter().map(|hold| hold.field("outcome").to_owned());
    outcomes.collect()
}

#[tokio::test]
async fn outcome_of_a_hold_is_dropped_handed_over_retained_or_downgraded() {
    crate::record();
    let (_server, locks) = server_and_client();
    let call = tokio::time::timeout(ms(200), cancelled(&locks, 1));
    call.await.unwrap_err();
    assert_eq!(outcomes("cancelled:<id>"), ["dropped"]);

    let (first, second) = tokio::join!(turn(&locks, 1), turn(&locks, 1));
    first.and(second).unwrap();
    assert_eq!(outcomes("passed-on:<id>"), ["handed_over", "released"]);

    // The lease outlives the hold, whose span and figures end with the body.
    retained(&locks, 1).await.unwrap();
    retained(&locks, 1).await.unwrap();
    assert_eq!(outcomes("retained:<id>"), ["retained", "retained"]);

    let lock = locks.lock("downgraded").ttl(LONG).name("downgraded");
    let writing: LockGuard = lock.write().acquire().await.unwrap();
    let number = |token: FencingToken| i64::try_from(token.get()).unwrap();
    let writer = number(token_of(&writing).await);
    let reading = writing.downgrade().await.unwrap();
    assert!(number(token_of(&reading).await) > writer);
    reading.release().await.unwrap();
    let hold = told("lock_hold", "downgraded").remove(0);
    assert_eq!(hold.number("token"), writer);
    assert_eq!(outcomes("downgraded"), ["downgraded", "released"]);
    locks.shutdown().await;
}

#[distributed_lock(key = "outlived:<id>", client = locks)]
async fn outlived(
    locks: &LockClient,
    id: u8,
    leak: bool,
) -> Result<Option<JoinHandle<()>>, LockError> {
    let carried = in_current_hold(std::future::pending());
    Ok(leak.then(|| tokio::spawn(carried)))
}

/// It is rarely intended.
#[tokio::test]
async fn hold_that_outlives_its_body_is_a_warning_with_the_functions_name() {
    crate::record();
    let locks = LockClient::memory();
    outlived(&locks, 1, false).await.unwrap();
    assert!(told("hold_outlives_body", "outlived:<id>").is_empty());
    let carried = outlived(&locks, 2, true).await.unwrap().unwrap();
    let warning = only("hold_outlives_body", "outlived:<id>");
    assert_eq!(warning.field("function"), "outlived");
    let log = crate::log::text();
    let mut lines = log
        .lines()
        .filter(|line| line.contains("hold_outlives_body"));
    assert!(lines.any(|line| line.contains("WARN")), "{log}");
    carried.abort();
}
