//! Answers about several locks.

use harness::{LONG, RawLock, behind_a_proxy, client, eventually, served};
use lock_runtime::LockClient;

const KEYS: [&str; 2] = ["account:1", "account:2"];

/// The answer that grants a caller both locks is lost, and then the first lock is, to another caller of both. Each
/// would wait for the other's lock until a ttl expires.
#[tokio::test]
async fn loss_behind_a_lost_answer_is_noticed_by_the_next_poll() {
    let (server, proxy, far) = behind_a_proxy().await;
    let near = client(server.url());
    let all = |client: &LockClient| {
        let all = client.lock_all(KEYS).ttl(LONG * 3).wait(LONG * 2);
        all.acquire()
    };
    // Brings the scripts.
    all(&far).await.unwrap().release().await.unwrap();
    let [mut first, mut second] = KEYS.map(|key| RawLock::new(&server, key));
    let held = near.lock(KEYS[0]).acquire().await.unwrap();
    let waiting = tokio::spawn(all(&far));
    eventually("waiter", LONG, async || first.queue().len() == 1).await;

    proxy.cut_next_reply(KEYS[1]);
    proxy.refuse(true);
    held.release().await.unwrap();
    eventually("both locks", LONG, async || second.value().is_some()).await;
    first.delete_record();
    let other = tokio::spawn(all(&near));
    eventually("other waiter", LONG, async || second.queue().len() == 1).await;
    assert_eq!(proxy.cuts(), 1, "the fault happened");
    proxy.refuse(false);
    for caller in [other, waiting] {
        served(caller).await.release().await.unwrap();
    }
}
