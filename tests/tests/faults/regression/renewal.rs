//! Renewals that are slow, that fail, or whose script the server has forgotten.

use harness::{KEY, LOCK, LONG, Mode, ask, behind_a_proxy, ms};
use lock_runtime::LockGuard;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// After a manual renewal failed, the watchdog kept renewing a lease whose renewal is off.
#[tokio::test]
async fn a_renewal_by_hand_that_failed_is_not_repeated_by_the_watchdog() {
    let (server, proxy, client) = behind_a_proxy().await;
    // Keeps the watchdog busy.
    let neighbour = client.lock("renewed").ttl(ms(600)).acquire().await.unwrap();
    let lease = client.lock(KEY).ttl(ms(900)).renew(false);
    let guard = lease.acquire().await.unwrap();
    proxy.cut_next_request(LOCK);
    let error = guard.renew().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert_eq!(proxy.cuts(), 1);

    let mut monitor = server.monitor();
    let lost = timeout(LONG, guard.lost()).await;
    lost.expect("the lease ends");
    let commands = monitor.take();
    let about = |lock: &str| commands.iter().filter(|it| it.text.contains(lock)).count();
    // The connection broke, so the lease is confirmed on the next one: once for the reconnect, and perhaps once more
    // for the failed renewal.
    assert!(about(LOCK) <= 2, "{commands:?}");
    assert!(about("lock:renewed") > 0, "the neighbour is renewed");
    assert!(neighbour.is_valid());
}

/// After a SCRIPT FLUSH, renewals were repeated one by one, each after the answer to the one before: with many leases
/// the last ones came too late.
#[tokio::test]
async fn no_hold_of_many_is_lost_to_a_script_flush() {
    const HOLDS: usize = 300;
    let (server, proxy, client) = behind_a_proxy().await;
    let mut acquiring = JoinSet::new();
    let ttl = ms(4_000);
    for n in 0..HOLDS {
        let lock = client.lock(format!("order:{n}"));
        acquiring.spawn(lock.ttl(ttl).acquire());
    }
    let holds: Vec<LockGuard> = acquiring
        .join_all()
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    // One after the other, the renewals would take three times the ttl.
    proxy.replies(Mode::Delay(ttl * 3 / HOLDS as u32));
    let () = ask(&mut server.connection(), &["SCRIPT", "FLUSH"]);
    let lost = async {
        for hold in &holds {
            hold.lost().await;
        }
    };
    let _ = timeout(ttl * 5 / 4, lost).await;
    let lost = holds.iter().filter(|hold| !hold.is_valid()).count();
    assert_eq!(lost, 0, "of {HOLDS} holds");
}
