//! A part of the nodes is away.

use harness::{
    KEY, LOCK, LONG, Mode, Proxy, QUEUE, RedisQuorum, RedisServer, ask, client_without_turns,
    cycle, eventually, exists, hold, ms, served,
};
use lock_runtime::{LockClient, LockErrorKind};
use std::time::{Duration, Instant};

use super::{is_on_all_nodes, nothing_is_left_on, proxies, url_behind};

/// How a node goes away, and comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Killed,
    Stopped,
    /// Nothing arrives there, nor comes from there.
    Cut,
    /// It asks for a password.
    Refusing,
    /// It is out of memory.
    Full,
}

fn begin(node: &mut RedisServer, way: &Proxy, fault: Fault) {
    match fault {
        Fault::Killed => node.kill9(),
        Fault::Stopped => node.pause(),
        Fault::Cut => way.black_hole(),
        Fault::Refusing => {
            let connection = &mut node.connection();
            ask::<()>(connection, &["ACL", "SETUSER", "default", "resetpass"]);
            ask::<i64>(connection, &["CLIENT", "KILL", "USER", "default"]);
        }
        Fault::Full => node.config_set("maxmemory", "1"),
    }
}

fn end(node: &RedisServer, way: &Proxy, fault: Fault) {
    match fault {
        Fault::Killed => {}
        Fault::Stopped => node.resume(),
        Fault::Cut => way.heal(),
        Fault::Refusing => {
            let connection = &mut node.connection();
            ask::<()>(connection, &["ACL", "SETUSER", "default", "nopass"]);
        }
        Fault::Full => node.config_set("maxmemory", "0"),
    }
}

/// A lock is acquired, renewed, awaited and released, and a call of another client is refused meanwhile.
async fn locks_work(url: &str) {
    let (holder, other) = (client_without_turns(url), client_without_turns(url));
    let guard = hold(&holder).await;
    guard.renew().await.expect("a majority confirms it");
    let busy = other
        .lock(KEY)
        .try_acquire()
        .await
        .expect("a majority answers");
    assert!(busy.is_none(), "another client holds it");
    let waiting = tokio::spawn(async move { other.lock(KEY).wait(LONG).acquire().await });
    guard.release().await.expect("a majority confirms it");
    let guard = served(waiting).await;
    guard.release().await.expect("a majority confirms it");
}

#[tokio::test]
async fn minority_that_is_away_stops_nothing() {
    for (nodes, away) in [(3, vec![0]), (3, vec![2]), (5, vec![1, 3])] {
        for fault in [Fault::Killed, Fault::Stopped, Fault::Cut] {
            let mut quorum = RedisQuorum::with(nodes);
            let ways = proxies(&quorum);
            let url = url_behind(&ways, "");
            cycle(&client_without_turns(url.as_str())).await;
            for &node in &away {
                begin(&mut quorum.nodes[node], &ways[node], fault);
            }
            locks_work(&url).await;
            for &node in &away {
                end(&quorum.nodes[node], &ways[node], fault);
            }
            let is_back = |node: &usize| fault != Fault::Killed || !away.contains(node);
            for node in (0..nodes).filter(is_back) {
                nothing_is_left_on(&quorum.nodes[node]).await;
            }
        }
    }
}

/// A call ends when a majority has answered, whatever becomes of the rest.
#[tokio::test]
async fn no_call_waits_for_a_node_that_is_away() {
    const TIMEOUT: Duration = Duration::from_secs(5);
    const CALLS: usize = 20;
    for fault in [
        Fault::Killed,
        Fault::Stopped,
        Fault::Cut,
        Fault::Refusing,
        Fault::Full,
    ] {
        let mut quorum = RedisQuorum::start();
        let ways = proxies(&quorum);
        let client = || {
            let builder = LockClient::builder().url(url_behind(&ways, ""));
            let builder = builder.local_turns(1).command_timeout(TIMEOUT);
            builder.build().expect("the settings are valid")
        };
        let (known, other) = (client(), client());
        cycle(&known).await;
        cycle(&other).await;
        begin(&mut quorum.nodes[1], &ways[1], fault);
        let mut times = [const { Vec::new() }; 4];
        let mut time = |step: usize, since: Instant| times[step].push(since.elapsed());
        for _ in 0..CALLS {
            let asked = Instant::now();
            let guard = hold(&known).await;
            time(0, asked);
            let asked = Instant::now();
            guard.renew().await.expect("a majority confirms it");
            time(1, asked);
            let asked = Instant::now();
            let busy = other.lock(KEY).try_acquire().await;
            assert!(busy.expect("a majority answers").is_none());
            time(2, asked);
            let asked = Instant::now();
            guard.release().await.expect("a majority confirms it");
            time(3, asked);
        }
        for (step, mut times) in times.into_iter().enumerate() {
            times.sort_unstable();
            let (median, longest) = (times[CALLS / 2], times[CALLS - 1]);
            println!("{fault:?}, step {step}: {median:?}, at most {longest:?}");
            assert!(median < TIMEOUT / 5, "{fault:?}, step {step}: {times:?}");
            assert!(longest < TIMEOUT, "{fault:?}, step {step}: {times:?}");
        }
        end(&quorum.nodes[1], &ways[1], fault);
    }
}

/// The largest quorums, without as many nodes as they can do without.
#[tokio::test]
async fn three_of_seven_and_four_of_nine_nodes_stop_nothing() {
    for (nodes, away) in [(7, 3), (9, 4)] {
        let mut quorum = RedisQuorum::with(nodes);
        let url = quorum.url();
        cycle(&client_without_turns(url.as_str())).await;
        for node in 0..away {
            quorum.nodes[2 * node].kill9();
        }
        locks_work(&url).await;
        // One node more is a majority.
        quorum.nodes[1].kill9();
        let client = client_without_turns(url);
        let error = client.lock(KEY).wait(ms(300)).acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        let answered = format!("{} of {nodes} nodes answered", nodes - away - 1);
        assert!(error.to_string().contains(&answered), "{error}");
        let there = (1..nodes).filter(|node| *node > 1 && (node % 2 == 1 || *node >= 2 * away));
        for node in there {
            nothing_is_left_on(&quorum.nodes[node]).await;
        }
    }
}

#[tokio::test]
async fn holder_goes_on_while_a_node_is_away() {
    let mut quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    let lock = client.lock(KEY).ttl(ms(600)).acquire();
    let guard = lock.await.expect("it is free");
    is_on_all_nodes(&guard, &quorum).await;
    quorum.nodes[1].kill9();
    let other = client_without_turns(quorum.url());
    // Longer than the lease: it is renewed.
    let refused = other.lock(KEY).wait(ms(1_500)).acquire().await;
    let refused = refused.expect_err("it is held");
    assert_eq!(refused.kind(), LockErrorKind::Busy, "{refused}");
    guard.release().await.expect("it was held throughout");
    cycle(&other).await;
}

#[tokio::test]
async fn holder_goes_on_while_a_node_is_away_and_another_one_is_slow() {
    let mut quorum = RedisQuorum::start();
    let ways = proxies(&quorum);
    let client = client_without_turns(url_behind(&ways, ""));
    let other = client_without_turns(quorum.url());
    let lock = client.lock(KEY).ttl(ms(1_200)).acquire();
    let guard = lock.await.expect("it is free");
    is_on_all_nodes(&guard, &quorum).await;
    ways[1].replies(Mode::Delay(ms(200)));
    quorum.nodes[2].kill9();
    // Longer than two leases: each is confirmed by the first node at once, and by the second one late.
    let refused = other.lock(KEY).wait(ms(3_000)).acquire().await;
    let refused = refused.expect_err("it is held");
    assert_eq!(refused.kind(), LockErrorKind::Busy, "{refused}");
    guard.renew().await.expect("both confirm it");
    guard.release().await.expect("it was held throughout");
}

/// The owner that has a node, and for how many milliseconds.
fn owner_on(node: &RedisServer) -> (Option<String>, i64) {
    let mut connection = node.connection();
    let value: Option<String> = ask(&mut connection, &["GET", LOCK]);
    let left = ask(&mut connection, &["PTTL", LOCK]);
    (value.map(|value| value[..22].to_owned()), left)
}

/// Waits until so many waiters queue on all nodes.
async fn so_many_wait(quorum: &RedisQuorum, waiters: i64) {
    for node in &quorum.nodes {
        let mut connection = node.connection();
        eventually("waiters", LONG, async || {
            let queued: i64 = ask(&mut connection, &["ZCOUNT", QUEUE, "0", "+inf"]);
            queued == waiters
        })
        .await;
    }
}

/// Else a claim that has come too late for the decision lapses, and the next waiter has that node.
#[tokio::test]
async fn holder_keeps_a_node_that_was_given_to_it_after_it_had_won() {
    let mut quorum = RedisQuorum::start();
    let ways = proxies(&quorum);
    let first = client_without_turns(quorum.url());
    let second = client_without_turns(url_behind(&ways, ""));
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
    let (holder, _) = owner_on(&quorum.nodes[0]);
    // Longer than a claim, and long before the first renewal.
    eventually("confirmation", LONG / 2, async || {
        let (owner, left) = owner_on(&quorum.nodes[2]);
        owner == holder && left > 30_000
    })
    .await;
    quorum.nodes[0].kill9();
    guard.renew().await.expect("a majority confirms it");
    guard.release().await.expect("a majority confirms it");
    served(last).await.release().await.expect("it is held");
}

#[tokio::test]
async fn lock_of_an_unreachable_majority_is_unavailable_and_says_why() {
    let mut quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    cycle(&client).await;
    quorum.nodes[0].kill9();
    quorum.nodes[2].kill9();
    let wait = client.lock(KEY).wait(ms(300)).acquire().await.map(drop);
    let attempt = client.lock(KEY).try_acquire().await.map(drop);
    for outcome in [wait, attempt] {
        let error = outcome.expect_err("one node is no majority");
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        let text = error.to_string();
        assert!(text.contains("1 of 3 nodes answered (127.0.0.1:"), "{text}");
    }
    nothing_is_left_on(&quorum.nodes[1]).await;
}

#[tokio::test]
async fn nothing_is_left_where_a_majority_was_silent() {
    let quorum = RedisQuorum::start();
    let proxies = proxies(&quorum);
    let builder = LockClient::builder().url(url_behind(&proxies, ""));
    let client = builder.command_timeout(ms(300)).build().unwrap();
    cycle(&client).await;
    for proxy in &proxies[1..] {
        proxy.black_hole();
    }
    let error = client.lock(KEY).wait(ms(100)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    for proxy in &proxies {
        proxy.heal();
    }
    for node in &quorum.nodes {
        nothing_is_left_on(node).await;
    }
    cycle(&client).await;
}

#[tokio::test]
async fn holder_is_told_when_its_majority_is_gone() {
    let mut quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    let guard = client.lock(KEY).ttl(ms(600)).acquire().await.unwrap();
    quorum.nodes[0].kill9();
    quorum.nodes[1].kill9();
    let lost = tokio::time::timeout(LONG, guard.lost()).await;
    lost.expect("its deadline passes");
    let released = guard.release().await.expect_err("it was lost");
    assert_eq!(released.kind(), LockErrorKind::Lost, "{released}");
}

#[tokio::test]
async fn shutdown_waits_for_each_node_that_answers() {
    let quorum = RedisQuorum::start();
    for _ in 0..20 {
        let client = client_without_turns(quorum.url());
        drop(hold(&client).await);
        client.shutdown().await;
        for node in &quorum.nodes {
            assert!(!exists(&mut node.connection(), LOCK));
        }
    }
}

#[tokio::test]
async fn lock_that_is_deleted_everywhere_stays_so() {
    let quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    let guard = client
        .lock(KEY)
        .ttl(Duration::from_secs(3))
        .acquire()
        .await
        .unwrap();
    is_on_all_nodes(&guard, &quorum).await;
    let mut nodes: Vec<_> = quorum.nodes.iter().map(RedisServer::connection).collect();
    for node in &mut nodes {
        ask::<()>(node, &["DEL", LOCK]);
    }
    tokio::time::timeout(LONG, guard.lost())
        .await
        .expect("a renewal finds that out");
    for node in &quorum.nodes {
        assert!(!exists(&mut node.connection(), LOCK), "it is written again");
    }
    drop(guard);
}
