//! Some of the nodes are away, and no process fails: rows of the fault table cover failing processes.

use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, Mode, RedisQuorum, ask, client_without_turns, cycle, eventually, exists, hold,
    ms, patient, served,
};
use lock_runtime::{LockClient, LockErrorKind};

use super::{is_on_all_nodes, nothing_is_left_on, owner_on, proxies, so_many_wait};

/// A lock is acquired, renewed, awaited and released, and a call of another client is refused meanwhile.
async fn locks_work(holder: &LockClient, other: &LockClient) {
    let guard = hold(holder).await;
    guard.renew().await.expect("a majority confirms it");
    let busy = other.lock(KEY).try_acquire().await;
    let busy = busy.expect("a majority answers");
    assert!(busy.is_none(), "another client holds it");
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    guard.release().await.expect("a majority confirms it");
    let guard = served(waiting).await;
    guard.release().await.expect("a majority confirms it");
}

/// The largest quorum, without as many nodes as it can spare.
#[tokio::test]
async fn four_of_nine_nodes_stop_nothing_and_five_do() {
    let mut quorum = RedisQuorum::with(9);
    let [holder, other] = [(); 2].map(|()| client_without_turns(quorum.url()));
    cycle(&holder).await;
    for node in [0, 2, 4, 6] {
        quorum.nodes[node].kill9();
    }
    locks_work(&holder, &other).await;
    quorum.nodes[1].kill9();
    let error = other.lock(KEY).wait(ms(300)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    let answered = "4 of 9 nodes answered";
    assert!(error.to_string().contains(answered), "{error}");
    for node in [3, 5, 7, 8] {
        nothing_is_left_on(&quorum.nodes[node]).await;
    }
}

#[tokio::test]
async fn holder_goes_on_while_a_node_is_away_and_another_is_slow() {
    let mut quorum = RedisQuorum::start();
    let ways = proxies(&quorum);
    let client = client_without_turns(quorum.url_through(&ways));
    let other = client_without_turns(quorum.url());
    let lock = client.lock(KEY).ttl(ms(6_000)).acquire();
    let guard = lock.await.expect("it is free");
    is_on_all_nodes(&guard, &quorum).await;
    ways[1].replies(Mode::Delay(ms(200)));
    quorum.nodes[2].kill9();
    // Longer than two leases: the first node confirms each at once, and the second one late.
    let refused = other.lock(KEY).wait(ms(13_000)).acquire().await;
    let refused = refused.expect_err("it is held");
    assert_eq!(refused.kind(), LockErrorKind::Busy, "{refused}");
    guard.renew().await.expect("both confirm it");
    guard.release().await.expect("it was held throughout");
}

/// Otherwise a claim that came too late for the decision lapses, and the next waiter has that node.
#[tokio::test]
async fn holder_keeps_a_node_that_votes_after_it_has_won() {
    let mut quorum = RedisQuorum::start();
    let ways = proxies(&quorum);
    let first = client_without_turns(quorum.url());
    let second = client_without_turns(quorum.url_through(&ways));
    let third = client_without_turns(quorum.url());
    let wait = |client: &LockClient| {
        let lock = client.lock(KEY).wait(LONG);
        tokio::spawn(lock.ttl(Duration::from_secs(60)).acquire())
    };
    let guard = hold(&first).await;
    let waiting = wait(&second);
    so_many_wait(&quorum, 1).await;
    let last = wait(&third);
    so_many_wait(&quorum, 2).await;
    ways[2].replies(Mode::Hold);
    guard.release().await.expect("it is held");
    let guard = served(waiting).await;
    ways[2].heal();
    let holder = owner_on(&quorum.nodes[0]);
    let mut late = quorum.nodes[2].connection();
    // Longer than a claim, and long before the first renewal.
    eventually("confirmation", LONG / 2, async || {
        let left: i64 = ask(&mut late, &["PTTL", LOCK]);
        owner_on(&quorum.nodes[2]) == holder && left > 30_000
    })
    .await;
    quorum.nodes[0].kill9();
    guard.renew().await.expect("a majority confirms it");
    guard.release().await.expect("a majority confirms it");
    served(last).await.release().await.expect("it is held");
}

#[tokio::test]
async fn shutdown_waits_for_each_node_that_answers() {
    let quorum = RedisQuorum::start();
    // The nodes know the scripts. An acquire that must be sent together with one may arrive after its owner's end, and
    // is ended a moment later.
    let first = patient(quorum.url()).build().unwrap();
    let guard = hold(&first).await;
    is_on_all_nodes(&guard, &quorum).await;
    guard.release().await.unwrap();
    nothing_is_left_on(&quorum.nodes[2]).await;
    for _ in 0..20 {
        let client = patient(quorum.url()).local_turns(1).build().unwrap();
        drop(hold(&client).await);
        client.shutdown().await;
        for node in &quorum.nodes {
            assert!(!exists(&mut node.connection(), LOCK));
        }
    }
}

#[tokio::test]
async fn lock_that_a_majority_lost_is_never_written_again() {
    let quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    let lock = client.lock(KEY).ttl(ms(6_000)).acquire();
    let guard = lock.await.expect("it is free");
    is_on_all_nodes(&guard, &quorum).await;
    let mut nodes = [0, 2].map(|node| quorum.nodes[node].connection());
    for node in &mut nodes {
        ask::<()>(node, &["DEL", LOCK]);
    }
    let lost = tokio::time::timeout(LONG, guard.lost());
    lost.await.expect("a renewal notices the loss");
    for node in &mut nodes {
        assert!(!exists(node, LOCK), "it is written again");
    }
    drop(guard);
    nothing_is_left_on(&quorum.nodes[1]).await;
}

mod long {
    use harness::{hasty, is_taken_and_ended};

    use super::*;

    /// The command arrives after its owner's end was repeated for as long as one may be on its way.
    #[tokio::test]
    async fn command_that_a_frozen_node_runs_much_later_is_ended() {
        let quorum = RedisQuorum::start();
        let ways = proxies(&quorum);
        // Otherwise the owner would be ended for longer.
        let client = hasty(quorum.url_through(&ways)).build().unwrap();
        cycle(&client).await;
        let frozen = &quorum.nodes[2];
        nothing_is_left_on(frozen).await;
        // What was sent arrives when the proxy is healed, even if its connection is gone by then.
        ways[2].black_hole();
        let lock = client.lock(KEY).ttl(ms(10_000)).acquire();
        let guard = lock.await.expect("two nodes are left");
        // The connection is given up after two commands without an answer, so the end is not behind the acquire.
        for _ in 0..2 {
            guard.renew().await.expect("two nodes are left");
            tokio::time::sleep(ms(1_500)).await;
        }
        guard.release().await.expect("two nodes are left");
        tokio::time::sleep(ms(33_000)).await;
        let mut monitor = frozen.monitor();
        ways[2].heal();
        is_taken_and_ended(&mut monitor, frozen, "10000").await;
    }
}
