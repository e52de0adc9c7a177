//! The runs that calls record.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use harness::{LONG, RIGHTS, RedisServer, eventually, patient};
use lock_runtime::{LockClient, LockError, distributed_lock};

use super::meter::{record, recorded, sum};
use super::ms;
use crate::journal::told;

#[distributed_lock(key = "measured:<id>", runs = 5, client = locks)]
async fn measured(
    locks: &LockClient,
    id: &str,
    fails: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    tokio::time::sleep(ms(20)).await;
    if fails {
        return Err("as told".into());
    }
    Ok(())
}

#[distributed_lock(key = "unmeasured:<id>", client = locks)]
async fn unmeasured(locks: &LockClient, id: &str) -> Result<(), LockError> {
    Ok(())
}

fn series(name: &str, more: &str) -> String {
    format!("distributed_lock_{name}{{template=measured:<id>{more}}}")
}

#[allow(
    clippy::disallowed_methods,
    reason = "the last success is told in the wall clock's time"
)]
#[tokio::test]
async fn runs_are_counted_by_template_and_outcome_as_they_are_recorded() {
    record();
    let locks = LockClient::memory();
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    measured(&locks, "hidden", false).await.unwrap();
    measured(&locks, "hidden", true).await.unwrap_err();
    measured(&locks, "other", true).await.unwrap_err();
    let mut cancelled = Box::pin(measured(&locks, "other", false));
    let polled = poll_fn(|cx| Poll::Ready(cancelled.as_mut().poll(cx))).await;
    assert!(polled.is_pending(), "it sleeps");
    drop(cancelled);
    unmeasured(&locks, "hidden").await.unwrap();

    let mut counted = Vec::new();
    for key in ["measured:hidden", "measured:other"] {
        let runs = locks.runs(key).await.unwrap();
        counted.extend(runs.into_iter().map(|run| run.outcome.as_str().to_owned()));
    }
    counted.sort();
    assert_eq!(counted, ["cancelled", "done", "failed", "failed"]);
    for (outcome, count) in [("done", 1.0), ("failed", 2.0), ("cancelled", 1.0)] {
        let runs = series("runs_total", &format!(",outcome={outcome}"));
        assert_eq!(sum(&runs), count, "{outcome}");
    }
    let took = recorded(&series("run_seconds", ""));
    assert_eq!(took.len(), 4, "{took:?}");
    assert!((0.019..20.0).contains(&took[0]), "{took:?}");
    let succeeded = recorded(&series("last_success_timestamp_seconds", ""));
    assert_eq!(succeeded.len(), 1, "only a run that is done");
    let at = Duration::from_secs_f64(succeeded[0]);
    assert!(at >= before && at < before + LONG, "{at:?}");
    let all = super::meter::all();
    assert!(
        !all.iter()
            .any(|series| series.contains("template=unmeasured") && series.contains("run"))
    );
}

#[distributed_lock(key = "unrecorded:<id>", runs = 5, client = locks)]
async fn unrecorded(locks: &LockClient, id: &str) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn refused_record_is_reported_once_in_a_while() {
    crate::record();
    let server = RedisServer::start();
    let rights: Vec<&str> = RIGHTS.iter().copied().filter(|it| *it != "+xadd").collect();
    let locks = patient(server.user("service", "s3cret", &rights));
    let locks = locks.build().unwrap();
    for _ in 0..3 {
        unrecorded(&locks, "hushed").await.unwrap();
    }
    let lines = async || told("run_not_recorded", "unrecorded:<id>");
    eventually("report", LONG, async || !lines().await.is_empty()).await;
    unrecorded(&locks, "hushed").await.unwrap();
    let lines = lines().await;
    assert_eq!(lines.len(), 1, "the others come within a minute");
    let fault = lines[0].field("fault");
    // Servers word it differently.
    assert!(fault.contains(" command"), "{fault}");
}
