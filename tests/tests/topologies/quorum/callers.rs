//! Functions with the attribute, and callers of one client that pass a lease on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harness::{
    KEY, LOCK, LONG, Mode, Monitor, RedisQuorum, RedisServer, client, cycle, eventually, hold, ms,
    soon,
};
use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock};
use tokio::task::JoinSet;

use super::{proxies, url_behind};

/// The tokens of the callers that were inside, in their order.
#[derive(Clone, Default)]
struct Visits(Arc<(AtomicUsize, Mutex<Vec<u64>>)>);

impl Visits {
    /// Is inside for a moment, alone.
    async fn note(&self, token: u64) {
        let (inside, tokens) = &*self.0;
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
        tokens.lock().unwrap().push(token);
        tokio::time::sleep(ms(1)).await;
        inside.fetch_sub(1, Ordering::SeqCst);
    }

    #[track_caller]
    fn assert_rise(&self, count: usize) -> Vec<u64> {
        let tokens = self.0.1.lock().unwrap().clone();
        assert_eq!(tokens.len(), count);
        let rise = tokens.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(rise, "{tokens:?}");
        tokens
    }
}

#[distributed_lock(key = KEY, wait = LONG, client = locks, guard = held)]
async fn visit(locks: &LockClient, visits: &Visits) -> Result<(), LockError> {
    visits.note(held.fencing_token().get()).await;
    Ok(())
}

#[distributed_lock(key = KEY, wait = "0s", on_busy = "skip", client = locks)]
async fn unless_busy(locks: &LockClient, answer: u8) -> Result<Option<u8>, LockError> {
    Ok(Some(answer))
}

/// Has this many callers of each client wait while another one has the lock, and lets them in.
async fn queue_up(clients: &[&LockClient], callers: usize) -> Visits {
    let (visits, mut calls) = (Visits::default(), JoinSet::new());
    let guard = hold(clients[0]).await;
    for client in clients.repeat(callers) {
        let (client, visits) = (client.clone(), visits.clone());
        calls.spawn(async move { visit(&client, &visits).await });
    }
    // On a runtime of one thread all of them ask before this goes on.
    tokio::task::yield_now().await;
    guard.release().await.expect("it was held throughout");
    for called in soon(calls.join_all()).await {
        called.expect("it is served");
    }
    visits
}

/// Each client reaches another node first.
#[tokio::test]
async fn bodies_of_several_clients_never_overlap_and_their_tokens_rise() {
    let mut quorum = RedisQuorum::start();
    let ways = [(); 3].map(|()| proxies(&quorum));
    for (near, ways) in ways.iter().enumerate() {
        let far = ways.iter().enumerate().filter(|(node, _)| *node != near);
        far.for_each(|(_, way)| way.requests(Mode::Delay(ms(5))));
    }
    let clients = ways.each_ref().map(|ways| client(url_behind(ways, "")));
    for is_killed in [false, true] {
        if is_killed {
            quorum.nodes[1].kill9();
        }
        let visits = queue_up(&clients.each_ref(), 20).await;
        visits.assert_rise(60);
    }
}

/// Calls that retain the lease cost nothing until another client asks for the lock, also while a node is away.
#[tokio::test]
async fn lease_is_retained_until_another_client_waits() {
    let long = Duration::from_secs(50);
    let mut quorum = RedisQuorum::start();
    let (ours, other) = (client(quorum.url()), client(quorum.url()));
    for is_killed in [false, true] {
        if is_killed {
            quorum.nodes[2].kill9();
        }
        for client in [&ours, &other] {
            cycle(client).await;
        }
        let token = async || {
            let lock = ours.lock(KEY).ttl(long).retain(long / 3).wait(LONG);
            let guard = soon(lock.acquire()).await.expect("it can be had");
            let token = guard.fencing_token().get();
            guard.release().await.expect("it was held throughout");
            token
        };
        let mut monitors = [0, 1].map(|node| quorum.nodes[node].monitor());
        let mut sent = || monitors.each_mut().map(|monitor| monitor.take().len());
        // The last cycle may still be settled, and the loss of a node be noticed.
        let mut last = 0;
        eventually("call that costs nothing", LONG, async || {
            let first = token().await;
            sent();
            last = token().await;
            last == first + 1 && sent() == [0; 2]
        })
        .await;
        let asked = Instant::now();
        let guard = soon(hold(&other)).await;
        assert!(asked.elapsed() < long / 6, "it was told of the waiter");
        assert!(guard.fencing_token().get() > last);
        guard.release().await.expect("it was held throughout");
    }
}

#[tokio::test]
async fn call_is_skipped_while_another_client_has_the_lock() {
    let mut quorum = RedisQuorum::start();
    let (holder, locks) = (client(quorum.url()), client(quorum.url()));
    for away in 0..3 {
        assert_eq!(unless_busy(&locks, 1).await.unwrap(), Some(1));
        let guard = hold(&holder).await;
        assert_eq!(unless_busy(&locks, 2).await.unwrap(), None);
        guard.release().await.unwrap();
        assert_eq!(unless_busy(&locks, 3).await.unwrap(), Some(3));
        // The second time without a node. Without a majority it is not known whether the lock is busy.
        quorum.nodes[away].kill9();
        if away == 1 {
            break;
        }
    }
    let error = unless_busy(&locks, 4).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
}

/// The names of the commands about the lock that a node received.
fn commands(monitor: &mut Monitor) -> Vec<String> {
    let sent = monitor.take().into_iter();
    let sent = sent.filter(|command| command.text.contains(LOCK));
    sent.map(|command| command.name).collect()
}

#[tokio::test]
async fn lease_passes_between_callers_of_a_client_without_a_command() {
    /// What one client may pass on in a row, unless that is set.
    const TURNS: usize = 16;
    const CALLERS: usize = 40;
    let quorum = RedisQuorum::start();
    let locks = LockClient::builder().url(quorum.url());
    let locks = locks.local_turns(16).build().unwrap();
    cycle(&locks).await;
    // The nodes get the scripts by which a lease goes to a successor.
    queue_up(&[&locks], CALLERS).await;
    let mut monitors: Vec<_> = quorum.nodes.iter().map(RedisServer::monitor).collect();
    let visits = queue_up(&[&locks], CALLERS).await;
    let tokens = visits.assert_rise(CALLERS);
    let in_turn = tokens.windows(2).filter(|pair| pair[1] - pair[0] == 1);
    let in_turn = in_turn.count();
    // The caller that had the lock before is the first of a lease.
    let grants = (CALLERS + 1).div_ceil(TURNS);
    assert_eq!(in_turn, CALLERS - grants, "{tokens:?}");
    locks.shutdown().await;
    for monitor in &mut monitors {
        let commands = commands(monitor);
        // A grant is one, or two where the nodes gave different tokens, and the last release is one more.
        let range = grants..=2 * grants + 1;
        assert!(range.contains(&commands.len()), "{commands:?}");
    }
}

/// A turn is as much of the lease as the grant, so a caller has the lock with a minority away.
#[tokio::test]
async fn lease_passes_on_while_a_node_is_silent() {
    let quorum = RedisQuorum::start();
    let locks = client(quorum.url());
    cycle(&locks).await;
    quorum.nodes[2].pause();
    let visits = queue_up(&[&locks], 10).await;
    let tokens = visits.assert_rise(10);
    let turns: Vec<u64> = (tokens[0]..).take(10).collect();
    assert_eq!(tokens, turns, "they are turns of one lease");
    quorum.nodes[2].resume();
    cycle(&locks).await;
    assert!(locks.lock(KEY).wait(ms(0)).await.unwrap().is_valid());
}
