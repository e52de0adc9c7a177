//! Renewals whose script the server has forgotten.

use harness::{Mode, ask, behind_a_proxy, ms};
use lock_runtime::LockGuard;
use tokio::task::JoinSet;
use tokio::time::timeout;

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
