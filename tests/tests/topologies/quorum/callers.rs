//! Callers of one client that hand a lease over, and calls that retain it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harness::{
    KEY, LOCK, LONG, Monitor, RedisQuorum, RedisServer, client, cycle, eventually, hold, patient,
    ran_since, soon, token_of,
};
use lock_runtime::{LockClient, LockError, distributed_lock};
use tokio::task::JoinSet;

/// The tokens of the callers that were inside, in their order.
type Tokens = Arc<Mutex<Vec<u64>>>;

#[distributed_lock(key = KEY, wait = LONG, client = locks, token = token)]
async fn visit(locks: &LockClient, tokens: &Tokens) -> Result<(), LockError> {
    tokens.lock().unwrap().push(token.get());
    tokio::task::yield_now().await;
    Ok(())
}

/// Makes this many callers wait while another one holds the lock, and then admits them. Returns their tokens, which
/// rise.
async fn queue_up(client: &LockClient, callers: usize) -> Vec<u64> {
    let (tokens, mut calls) = (Tokens::default(), JoinSet::new());
    let guard = hold(client).await;
    for _ in 0..callers {
        let (client, tokens) = (client.clone(), tokens.clone());
        calls.spawn(async move { visit(&client, &tokens).await });
    }
    // On a runtime of one thread all of them ask before this continues.
    tokio::task::yield_now().await;
    guard.release().await.expect("it was held throughout");
    for called in soon(calls.join_all()).await {
        called.expect("it is served");
    }
    let tokens = tokens.lock().unwrap().clone();
    assert_eq!(tokens.len(), callers);
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
    tokens
}

/// The names of the commands about the lock that a node received.
fn commands(monitor: &mut Monitor) -> Vec<String> {
    let sent = monitor.take().into_iter();
    let sent = sent.filter(|command| command.text.contains(LOCK));
    sent.map(|command| command.name).collect()
}

#[tokio::test]
async fn lease_is_handed_over_within_a_client_without_a_command() {
    /// The default number of turns in a row.
    const TURNS: usize = 16;
    const CALLERS: usize = 40;
    let quorum = RedisQuorum::start();
    let locks = patient(quorum.url());
    let locks = locks.local_turns(16).build().unwrap();
    cycle(&locks).await;
    // The nodes load the scripts that hand a lease to a successor.
    queue_up(&locks, CALLERS).await;
    let mut monitors: Vec<_> = quorum.nodes.iter().map(RedisServer::monitor).collect();
    let tokens = queue_up(&locks, CALLERS).await;
    let in_turn = tokens.windows(2).filter(|pair| pair[1] - pair[0] == 1);
    let in_turn = in_turn.count();
    // The previous holder is the first caller of a lease.
    let grants = (CALLERS + 1).div_ceil(TURNS);
    // The token of a grant may be the next number after the sixteen of the one before.
    assert!(in_turn >= CALLERS - grants, "{tokens:?}");
    // A turn is as valid as the grant, so callers hold the lock while a minority is away.
    quorum.nodes[2].pause();
    let tokens = queue_up(&locks, 10).await;
    assert_eq!(tokens[9] - tokens[0], 9, "they are turns of one lease");
    quorum.nodes[2].resume();
    locks.shutdown().await;
    for monitor in &mut monitors {
        let commands = commands(monitor);
        // Each grant is one command, or more if the nodes gave different tokens or the machine is slow, but not one per
        // caller.
        let range = grants..CALLERS;
        assert!(range.contains(&commands.len()), "{commands:?}");
    }
}

/// Calls that retain the lease cost nothing until another client wants the lock, also while a node is away.
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
            let guard = soon(lock.acquire()).await.expect("the lock is free");
            let token = token_of(&guard).await.get();
            guard.release().await.expect("it was held throughout");
            token
        };
        let mut monitors = [0, 1].map(|node| quorum.nodes[node].monitor());
        let mut sent = || monitors.each_mut().map(|monitor| monitor.take().len());
        // The last cycle may still be in progress, and the client may still be noticing the loss of a node.
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
        assert!(ran_since(asked) < long / 6, "it was notified of the waiter");
        assert!(token_of(&guard).await.get() > last);
        guard.release().await.expect("it was held throughout");
    }
}
