//! Locks on a quorum: what happens on all nodes is counted once.

use harness::RedisQuorum;
use lock_runtime::{LockGuard, distributed_lock};

use super::meter::{recorded, sum};
use super::{LockClient, LockError, client};
use crate::journal::only;

const RENEWALS: u32 = 10;

#[distributed_lock(key = "voted:<id>", ttl = "4s", wait = "0s", client = locks, guard = held)]
async fn voted(
    locks: &LockClient,
    id: u8,
    body: impl AsyncFnOnce(&LockGuard),
) -> Result<(), LockError> {
    body(held).await;
    Ok(())
}

fn counted(name: &str, label: &str, value: &str) -> f64 {
    let labels = format!("{{template=voted:<id>,{label}={value}}}");
    sum(&format!("distributed_lock_{name}{labels}"))
}

fn calls(outcome: &str) -> f64 {
    counted("acquisitions_total", "outcome", outcome)
}

fn renewals(outcome: &str) -> f64 {
    counted("renewals_total", "outcome", outcome)
}

fn losses(reason: &str) -> f64 {
    counted("losses_total", "reason", reason)
}

fn holds(outcome: &str) -> usize {
    let labels = format!("{{template=voted:<id>,outcome={outcome}}}");
    recorded(&format!("distributed_lock_hold_seconds{labels}")).len()
}

#[tokio::test]
async fn call_on_a_quorum_is_counted_once_and_not_for_each_node() {
    crate::record();
    let mut quorum = RedisQuorum::start();
    let (locks, other) = (client(quorum.url()), client(quorum.url()));
    for round in 1..=2 {
        let before = renewals("confirmed");
        let body = async |held: &LockGuard| {
            voted(&other, 1, async |_| ()).await.unwrap_err();
            for _ in 0..RENEWALS {
                held.renew().await.unwrap();
            }
        };
        voted(&locks, 1, body).await.unwrap();
        // Few renewals fall due meanwhile. Counted per node, there would be three times as many.
        let confirmed = renewals("confirmed") - before;
        let range = f64::from(RENEWALS)..f64::from(2 * RENEWALS);
        assert!(range.contains(&confirmed), "{confirmed}");
        let times = f64::from(round);
        assert_eq!((calls("acquired"), calls("busy")), (times, times));
        assert_eq!(renewals("failed"), 0.0, "a majority confirmed each");
        assert_eq!(holds("released"), round as usize);
        // One node is down in the second round.
        if round == 1 {
            quorum.nodes[1].kill9();
        }
    }
    let body = async |_: &LockGuard| {
        quorum.nodes[0].kill9();
        std::future::pending().await
    };
    let error = voted(&locks, 1, body).await.unwrap_err();
    assert!(error.is_lost(), "{error}");
    assert_eq!((losses("expired"), losses("not_ours")), (1.0, 0.0));
    assert!(renewals("failed") > 0.0);
    let lost = only("lock_lost", "voted:<id>");
    assert!(lost.field("reason").contains("ran out"), "{lost:?}");
    voted(&other, 1, async |_| ()).await.unwrap_err();
    assert_eq!(calls("unavailable"), 1.0);
}
