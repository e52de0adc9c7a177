//! Callers that have parts of a lock: one of them gets it, and in the end all do.

use harness::{KEY, LONG, Mode, Proxy, RedisQuorum, client_without_turns, ms};
use lock_runtime::LockClient;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{nothing_is_left_on, proxies, url_behind};

/// A client for each node, which reaches that one at once and the others late.
async fn clients_that_split(quorum: &RedisQuorum) -> (Vec<Vec<Proxy>>, Vec<LockClient>) {
    let mut ways = Vec::new();
    let mut clients = Vec::new();
    for near in 0..quorum.nodes.len() {
        let proxies = proxies(quorum);
        let client = client_without_turns(url_behind(&proxies, ""));
        // Connected, so that the first requests are under way at the same time.
        client
            .lock("warm")
            .wait(LONG)
            .acquire()
            .await
            .unwrap()
            .release()
            .await
            .unwrap();
        for (node, proxy) in proxies.iter().enumerate() {
            if node != near {
                proxy.requests(Mode::Delay(ms(30)));
            }
        }
        ways.push(proxies);
        clients.push(client);
    }
    (ways, clients)
}

#[tokio::test]
async fn callers_that_have_a_node_each_are_all_served_one_at_a_time() {
    let quorum = RedisQuorum::start();
    let (_ways, clients) = clients_that_split(&quorum).await;
    for _ in 0..5 {
        let (begin, inside) = (Arc::new(Barrier::new(3)), Arc::new(AtomicUsize::new(0)));
        let mut callers = JoinSet::new();
        for client in clients.clone() {
            let (begin, inside) = (begin.clone(), inside.clone());
            callers.spawn(async move {
                begin.wait().await;
                let guard = client.lock(KEY).wait(LONG).acquire().await;
                let guard = guard.expect("each is served");
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                guard.release().await.expect("it was held throughout");
            });
        }
        while let Some(caller) = callers.join_next().await {
            caller.expect("no caller panics");
        }
    }
}

#[tokio::test]
async fn one_of_the_callers_that_only_try_gets_a_free_lock() {
    let quorum = RedisQuorum::start();
    let (_ways, clients) = clients_that_split(&quorum).await;
    for round in 0..5 {
        let begin = Arc::new(Barrier::new(3));
        let mut callers = JoinSet::new();
        for client in clients.clone() {
            let begin = begin.clone();
            callers.spawn(async move {
                begin.wait().await;
                client
                    .lock(KEY)
                    .try_acquire()
                    .await
                    .expect("all nodes answer")
            });
        }
        // None is released before all have tried.
        let outcomes = callers.join_all().await;
        let guards: Vec<_> = outcomes.into_iter().flatten().collect();
        assert_eq!(guards.len(), 1, "round {round}");
        for guard in guards {
            guard.release().await.expect("it was held throughout");
        }
        for node in &quorum.nodes {
            nothing_is_left_on(node).await;
        }
    }
}

#[tokio::test]
async fn caller_that_is_dropped_while_the_nodes_are_split_leaves_nothing() {
    let quorum = RedisQuorum::start();
    let (_ways, clients) = clients_that_split(&quorum).await;
    for pause in [0, 5, 15, 31, 45, 62, 75] {
        let mut callers = JoinSet::new();
        for client in &clients {
            callers.spawn(client.lock(KEY).wait(LONG).acquire());
        }
        tokio::time::sleep(ms(pause)).await;
        callers.shutdown().await;
        for node in &quorum.nodes {
            nothing_is_left_on(node).await;
        }
    }
}
