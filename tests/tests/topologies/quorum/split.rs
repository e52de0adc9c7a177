//! Callers that each have some nodes of a lock: one of them gets it, and in the end all do.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use harness::{
    KEY, LONG, Mode, Proxy, RedisQuorum, RedisServer, Worker, cycle, eventually, hold, ms, patient,
    soon, token_of,
};
use lock_runtime::{LockClient, LockError, LockGuard};
use tokio::task::{JoinHandle, JoinSet};

use super::{is_on_all_nodes, nothing_is_left_on, owner_on, proxies, so_many_wait};

/// A client with its own route to each node.
struct Caller {
    client: LockClient,
    ways: Vec<Proxy>,
}

impl Caller {
    /// Holds back its requests to all nodes but this one.
    fn reaches_only(&self, node: usize) {
        self.far_from(node, Mode::Hold);
    }

    fn reaches_all(&self) {
        self.ways.iter().for_each(Proxy::heal);
    }

    /// Reaches this node at once, and the others late.
    fn is_near(&self, node: usize) {
        self.far_from(node, Mode::Delay(ms(30)));
    }

    fn far_from(&self, node: usize, mode: Mode) {
        let far = self.ways.iter().enumerate().filter(|(n, _)| *n != node);
        far.for_each(|(_, way)| way.requests(mode));
    }
}

/// This many clients, each of which has had the lock.
async fn callers(quorum: &RedisQuorum, number: usize) -> Vec<Caller> {
    let mut callers = Vec::new();
    for _ in 0..number {
        let ways = proxies(quorum);
        // No node is away: if one does not answer for a second, the machine is busy.
        let builder = patient(quorum.url_through(&ways));
        let builder = builder.local_turns(1).command_timeout(LONG / 2);
        let client = builder.build().expect("the settings are valid");
        cycle(&client).await;
        callers.push(Caller { client, ways });
    }
    // A release is confirmed by a majority.
    nothing_is_left(quorum).await;
    callers
}

/// Begins a call by each caller. Each takes another node before its requests reach the others.
async fn each_takes_a_node<T: Send + 'static>(
    quorum: &RedisQuorum,
    callers: &[Caller],
    call: impl Fn(LockClient) -> JoinHandle<T>,
) -> Vec<JoinHandle<T>> {
    let mut calls = Vec::new();
    for (node, caller) in callers.iter().enumerate() {
        caller.reaches_only(node);
        calls.push(call(caller.client.clone()));
    }
    all_nodes_have_an_owner(quorum).await;
    let owners: BTreeSet<_> = quorum.nodes.iter().map(owner_on).collect();
    assert_eq!(owners.len(), quorum.nodes.len(), "the nodes are not split");
    callers.iter().for_each(Caller::reaches_all);
    calls
}

async fn all_nodes_have_an_owner(quorum: &RedisQuorum) {
    eventually("owner on each node", LONG, async || {
        quorum.nodes.iter().all(|node| owner_on(node).is_some())
    })
    .await;
}

async fn nothing_is_left(quorum: &RedisQuorum) {
    for node in &quorum.nodes {
        nothing_is_left_on(node).await;
    }
}

/// The callers inside, and the token of the last one.
#[derive(Clone, Default)]
struct Room(Arc<(AtomicUsize, AtomicU64)>);

/// Holds the lock for a moment, and notices whether another caller holds it, too.
async fn visit(client: LockClient, room: Room) {
    let (inside, last) = &*room.0;
    let guard = hold(&client).await;
    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
    let token = token_of(&guard).await.get();
    let before = last.swap(token, Ordering::SeqCst);
    assert!(before < token, "{token} after {before}");
    tokio::task::yield_now().await;
    inside.fetch_sub(1, Ordering::SeqCst);
    guard.release().await.expect("it was held throughout");
}

#[tokio::test]
async fn callers_that_have_a_node_each_are_all_served_one_at_a_time() {
    let quorum = RedisQuorum::start();
    let callers = callers(&quorum, 3).await;
    let room = Room::default();
    for _ in 0..5 {
        let visits = each_takes_a_node(&quorum, &callers, |client| {
            tokio::spawn(visit(client, room.clone()))
        });
        for visit in visits.await {
            soon(visit).await.expect("it is served");
        }
        nothing_is_left(&quorum).await;
    }
}

type Attempt = JoinHandle<Result<Option<LockGuard>, LockError>>;

fn try_acquire(client: LockClient) -> Attempt {
    tokio::spawn(client.lock(KEY).try_acquire())
}

/// None is released before all have tried.
async fn one_has_it(quorum: &RedisQuorum, attempts: Vec<Attempt>) {
    let mut guards = Vec::new();
    for attempt in attempts {
        let acquired = soon(attempt).await.expect("no attempt panics");
        guards.extend(acquired.expect("all nodes answer"));
    }
    assert_eq!(guards.len(), 1, "the number of holders");
    let guard = guards.remove(0);
    guard.release().await.expect("it was held throughout");
    nothing_is_left(quorum).await;
}

/// First all try at once, each near another node; then each already has a node.
#[tokio::test]
async fn one_of_several_trying_callers_has_the_lock() {
    let quorum = RedisQuorum::start();
    let callers = callers(&quorum, 3).await;
    let clients = || callers.iter().map(|caller| caller.client.clone());
    for _ in 0..20 {
        one_has_it(&quorum, clients().map(try_acquire).collect()).await;
    }
    for (node, caller) in callers.iter().enumerate() {
        caller.is_near(node);
    }
    for _ in 0..5 {
        one_has_it(&quorum, clients().map(try_acquire).collect()).await;
    }
    for _ in 0..10 {
        let attempts = each_takes_a_node(&quorum, &callers, try_acquire).await;
        one_has_it(&quorum, attempts).await;
    }
}

#[tokio::test]
async fn caller_that_is_dropped_while_the_nodes_are_split_leaves_nothing() {
    let quorum = RedisQuorum::start();
    let callers = callers(&quorum, 3).await;
    for (node, caller) in callers.iter().enumerate() {
        caller.is_near(node);
    }
    for pause in [0, 5, 15, 31, 45, 62, 75] {
        let mut calls = JoinSet::new();
        for caller in &callers {
            calls.spawn(caller.client.lock(KEY).wait(LONG).acquire());
        }
        tokio::time::sleep(ms(pause)).await;
        calls.shutdown().await;
        nothing_is_left(&quorum).await;
    }
}

/// The lock is handed to a suspended process. It is still connected, so the nodes consider it alive.
#[tokio::test]
async fn lock_moves_on_from_a_stopped_claimant() {
    let (quorum, resource) = (RedisQuorum::start(), RedisServer::start());
    let client = || patient(quorum.url()).local_turns(1).build().unwrap();
    let [holder, next] = [client(), client()];
    let guard = hold(&holder).await;
    // So that waiters queue everywhere.
    is_on_all_nodes(&guard, &quorum).await;
    let arguments = [quorum.url(), resource.admin_url()];
    let arguments = arguments.each_ref().map(String::as_str);
    let mut claimant = Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &arguments);
    claimant.send(&format!("acquire {KEY} 30000 {}", LONG.as_millis()));
    so_many_wait(&quorum, 1).await;
    let waiting = tokio::spawn(async move { cycle(&next).await });
    so_many_wait(&quorum, 2).await;
    claimant.stop();
    guard.release().await.expect("it was held throughout");
    soon(waiting).await.expect("it is served after the claim");
    claimant.kill9();
    nothing_is_left(&quorum).await;
}
