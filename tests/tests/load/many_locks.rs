//! Many locks that one process holds for a long time.

use std::time::{Duration, Instant};

use harness::{ask, figure, ms, patient, server_and_connection};
use redis::Connection;

use crate::take_in_a_burst;

const LOCKS: u32 = 10_000;

/// A ttl that needs no renewal in this test.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The least time left of any lease. Renewing all takes as long as acquiring all: an eighth of the ttl at most, and
/// more on a slow machine.
const TTL: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_locks_are_kept_for_many_ttls_by_renewals_spread_over_time() {
    let _alone = crate::ALONE.lock().await;
    let (server, mut connection) = server_and_connection();
    let client = patient(server.url()).connect().await.unwrap();
    let asked = Instant::now();
    let guards = take_in_a_burst(&client, LOCKS, DAY).await;
    let ttl = TTL.max(8 * asked.elapsed());
    // About five renewals each.
    let hold = ttl * 8 / 5;
    drop(guards);
    client.shutdown().await;

    let client = patient(server.url()).connect().await.unwrap();
    let guards = take_in_a_burst(&client, LOCKS, ttl).await;

    let (start, first) = (Instant::now(), calls(&mut connection));
    let (mut before, mut looks, mut busy) = (first, 0, 0);
    while start.elapsed() < hold {
        tokio::time::sleep(ms(50)).await;
        let now = calls(&mut connection);
        looks += 1;
        busy += u32::from(now > before);
        before = now;
    }
    let (sent, held) = (before - first, start.elapsed());

    let lost = guards.iter().filter(|guard| !guard.is_valid()).count();
    assert_eq!(lost, 0, "locks were lost");
    // Some leases are renewed early, once.
    let thirds = held.as_secs_f64() / (ttl / 3).as_secs_f64();
    let needed = f64::from(LOCKS) * thirds;
    assert!(
        (0.8 * needed..1.5 * needed).contains(&(sent as f64)),
        "{sent} renewals, {needed} are needed"
    );
    // In the order of their grants, all renewals would be sent in one part of each third of the ttl.
    assert!(
        busy > looks * 3 / 4,
        "renewals in {busy} of {looks} samples"
    );

    for guard in &guards[..10] {
        guard.renew().await.unwrap();
    }
    drop(guards);
    client.shutdown().await;
    let left: Vec<String> = ask(&mut connection, &["KEYS", "lock:*"]);
    assert!(left.is_empty(), "{} locks are left", left.len());
}

/// How many scripts the server was asked to run.
fn calls(connection: &mut Connection) -> u64 {
    figure(connection, "cmdstat_evalsha:calls")
}
