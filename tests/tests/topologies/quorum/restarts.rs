//! Nodes that are new or restart. Rows of the fault table check that they never admit a second holder.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use harness::{
    Form, KEY, LONG, RedisQuorum, RedisServer, ask, boot, client_without_turns, cycle, eventually,
    failed, marker_name, ms, patient,
};
use lock_runtime::LockErrorKind;
use tokio::task::{JoinSet, spawn_blocking};

use super::nothing_is_left_on;

#[tokio::test]
async fn new_nodes_have_no_vote_and_report_until_when() {
    let quorum = RedisQuorum::unmarked(3);
    let url = quorum.url_with("?restart_delay=20s");
    let client = patient(url).ttl(ms(4_000));
    let client = client.build().unwrap();
    let words = "3 of 3 nodes are new or restarted less than 20s ago, and a majority votes in ";
    // Some nodes may not have answered yet.
    eventually("answer of all nodes", LONG, async || {
        let error = client.lock(KEY).try_acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        error.to_string().contains(words)
    })
    .await;
    for node in &quorum.nodes {
        nothing_is_left_on(node).await;
    }
}

#[tokio::test]
async fn connecting_marks_new_nodes() {
    let quorum = RedisQuorum::unmarked(3);
    let connected = patient(quorum.url()).connect().await;
    connected.expect("they answer");
    for node in &quorum.nodes {
        let mut connection = node.connection();
        let marker: String = ask(&mut connection, &["GET", &marker_name("lock:")]);
        let boot = boot(&mut connection);
        assert!(marker.starts_with(&format!("{boot} 60000 ")), "{marker}");
    }
}

/// The name of the first node's count, and its time; `None` once the node votes.
fn counted(quorum: &RedisQuorum) -> Option<(String, u64)> {
    let node = &mut quorum.nodes[0].connection();
    let marker: Option<String> = ask(node, &["GET", &marker_name("lock:")]);
    let marker = marker.unwrap_or_else(|| "boot delay unmarked 0".to_owned());
    let mut parts = marker.split(' ').skip(2);
    let (name, waited) = parts.next().zip(parts.next())?;
    Some((name.to_owned(), waited.parse().expect("a number")))
}

/// A client measures how long a new node has waited. When the client ends, the next one continues the count.
#[tokio::test]
async fn new_nodes_vote_after_the_delay_although_clients_end() {
    let quorum = RedisQuorum::unmarked(3);
    let url = quorum.url_with("?restart_delay=4s");
    let builder = || patient(&url).ttl(ms(4_000));
    let first = builder().connect().await.expect("they answer");
    let mut begun = None;
    eventually("count that goes on", LONG, async || {
        begun = counted(&quorum);
        begun.as_ref().is_some_and(|(_, waited)| *waited >= 1_000)
    })
    .await;
    first.shutdown().await;
    let second = builder().build().expect("the settings are valid");
    let asked = second.lock(KEY).wait(LONG).acquire().await;
    let (name, waited) = begun.expect("it has begun");
    if let Some((goes_on, longer)) = counted(&quorum) {
        assert_eq!(goes_on, name, "another count");
        assert!(longer >= waited);
    }
    let guard = asked.expect("they vote");
    guard.release().await.expect("it is held");
}

/// The client continues to measure, although nobody calls it and the node did not answer for a while.
#[tokio::test]
async fn new_node_that_was_away_votes_after_the_delay_although_nobody_calls() {
    let mut quorum = RedisQuorum::unmarked(3);
    let url = quorum.url_with("?restart_delay=4s");
    let client = patient(url).ttl(ms(4_000));
    let _client = client.connect().await.expect("they answer");
    assert!(counted(&quorum).is_some(), "it votes at once");
    quorum.nodes[0].kill9();
    // Longer than the time between two queries of the client.
    tokio::time::sleep(ms(2_000)).await;
    quorum.nodes[0].restart_empty();
    eventually("vote", LONG, async || counted(&quorum).is_none()).await;
}

/// Each node's records of a lock, for the message of a test that cannot be repeated at will.
fn records(urls: &[String], number: usize) -> String {
    let mut all = String::new();
    for url in urls {
        let client = redis::Client::open(url.as_str()).expect("it is an address");
        let Ok(mut node) = client.get_connection() else {
            continue;
        };
        let names: Vec<String> = ask(&mut node, &["KEYS", &format!("*order:{number}*")]);
        for name in names {
            let left: i64 = ask(&mut node, &["PTTL", &name]);
            let read: &[&str] = match ask::<String>(&mut node, &["TYPE", &name]).as_str() {
                "zset" => &["ZRANGE", &name, "0", "-1", "WITHSCORES"],
                _ => &["GET", &name],
            };
            let value: redis::Value = ask(&mut node, read);
            all += &format!("\n{url} {name} for {left} ms: {value:?}");
        }
    }
    all
}

const KEYS: u32 = 10;
const TASKS: usize = 8;

/// One of three nodes repeatedly restarts without its data. The other two vote, so callers that have one of them each
/// must agree. The keys are random: two clients race for a lock that nobody queues for.
#[tokio::test(flavor = "multi_thread")]
async fn restarts_of_a_minority_delay_no_call() {
    let mut quorum = RedisQuorum::start();
    let urls: Vec<String> = quorum.nodes.iter().map(RedisServer::url).collect();
    let clients = [(); 2].map(|()| client_without_turns(quorum.url()));
    let (served, is_over) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let inside: Arc<[AtomicU32]> = (0..KEYS).map(|_| AtomicU32::new(0)).collect();
    let (seed, mut calls) = (harness::seed(), JoinSet::new());
    for (task, client) in clients.iter().cycle().take(2 * TASKS).enumerate() {
        let (client, inside) = (client.clone(), inside.clone());
        let (served, is_over, urls) = (served.clone(), is_over.clone(), urls.clone());
        calls.spawn(async move {
            for call in 0_u32.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let drawn = BuildHasherDefault::<DefaultHasher>::new().hash_one((seed, task, call));
                let number = (drawn % u64::from(KEYS)) as usize;
                let (asked, key) = (Instant::now(), format!("order:{number}"));
                let guard = client.lock(key).wait(LONG).acquire().await;
                let guard = guard.unwrap_or_else(|error| {
                    let asked = asked.elapsed();
                    panic!("{error} after {asked:?}, with {}", records(&urls, number))
                });
                let inside = &inside[number];
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "double entry");
                tokio::time::sleep(ms(2)).await;
                inside.fetch_sub(1, Ordering::SeqCst);
                guard.release().await.expect("it is held");
                served.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    // One or two restarts in ten would leave a key stuck, so the long form finds that reliably.
    let (restarts, calls_of_each) = Form::of_this_run().pick((4, 50), (20, 150));
    for _ in 0..restarts {
        let restarted = spawn_blocking(move || {
            quorum.nodes[2].restart_empty();
            quorum
        });
        quorum = restarted.await.expect("the node starts");
        let before = served.load(Ordering::Relaxed);
        // As many calls as these take their time where many tests share a core.
        eventually("calls after the restart", 6 * LONG, async || {
            served.load(Ordering::Relaxed) > before + calls_of_each * KEYS
        })
        .await;
    }
    is_over.store(true, Ordering::Relaxed);
    calls.join_all().await;
}

#[tokio::test]
async fn clients_with_different_delays_get_an_error() {
    let quorum = RedisQuorum::start();
    let client = |url| patient(url).build().unwrap();
    cycle(&client(quorum.url())).await;
    let other = client(quorum.url_with("?restart_delay=90s"));
    let error = failed(other.lock(KEY).try_acquire().await, LockErrorKind::Rejected);
    let text = error.to_string();
    let words = "60000 ms on this node and 90000 ms";
    assert!(text.contains(words), "{text}");
}
