//! What operators see of locks on a quorum, some of whose nodes are away.

use std::time::{Duration, Instant};

use harness::{
    KEY, LOCK, LONG, Mode, OPERATION, QUORUM_VIEWER_RIGHTS, RedisQuorum, RedisServer,
    VIEWER_RIGHTS, all_entries, all_locks, ask, client_without_turns, eventually, exists, failed,
    ms, patient, ran_since, revocation, revoke, soon, token_of,
};
use lock_runtime::inspect::{AuditOutcome, HolderKind, HolderRef, ListedLock};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};
use redis::Connection;

use super::{is_on_all_nodes, proxies};

async fn is_lost(guard: LockGuard) -> String {
    soon(guard.lost()).await;
    let error = guard.release().await.unwrap_err();
    assert!(error.is_lost(), "{error}");
    error.to_string()
}

fn two_clients(quorum: &RedisQuorum) -> [LockClient; 2] {
    [quorum.url(), quorum.url()].map(|url| patient(url).local_turns(1).build().unwrap())
}

fn connections(quorum: &RedisQuorum) -> Vec<Connection> {
    quorum.nodes.iter().map(RedisServer::connection).collect()
}

/// A lock that all nodes have, and whose renewals are far apart.
async fn held_by(client: &LockClient, quorum: &RedisQuorum) -> LockGuard {
    let lock = client.lock(KEY).ttl(RedisQuorum::DELAY).acquire();
    let guard = lock.await.expect("it is free");
    is_on_all_nodes(&guard, quorum).await;
    guard
}

async fn list(client: &LockClient) -> Result<Vec<ListedLock>, LockError> {
    all_locks(client.locks()).await
}

/// Each page of such a listing knows nothing of the locks on other pages.
#[tokio::test]
async fn listing_in_parts_shows_a_lock_once_while_a_node_is_away() {
    for away in 0..3 {
        let mut quorum = RedisQuorum::start();
        let [holder, operator] = two_clients(&quorum);
        let mut guards = Vec::new();
        for number in 0..20 {
            let lock = holder.lock(format!("order:{number:02}"));
            let guard = lock.ttl(RedisQuorum::DELAY).acquire().await.unwrap();
            guards.push(guard);
        }
        for mut connection in connections(&quorum) {
            let names = ["KEYS", "lock:order:*"];
            let has_all = async || ask::<Vec<String>>(&mut connection, &names).len() == 20;
            eventually("locks on each node", LONG, has_all).await;
        }
        quorum.nodes[away].kill9();
        operator.ping().await.unwrap();
        // A position with numbers of nodes that do not exist, which do not count as nodes that are away.
        let (mut keys, mut link) = (Vec::new(), Some(".7-8-9.000".to_owned()));
        loop {
            let mut locks = operator.locks().page_size(3);
            if let Some(link) = &link {
                locks = locks.resume(link.parse().unwrap());
            }
            let page = locks.next_page().await.unwrap().unwrap_or_default();
            keys.extend(page.iter().map(|lock| lock.key.to_string()));
            match locks.position() {
                Some(position) => link = Some(position.to_string()),
                None => break,
            }
        }
        keys.sort();
        let all: Vec<String> = (0..20).map(|number| format!("order:{number:02}")).collect();
        assert_eq!(keys, all, "node {away} is away");
    }
}

#[tokio::test]
async fn lock_is_seen_and_revoked_while_a_node_is_away() {
    for away in 0..3 {
        let mut quorum = RedisQuorum::start();
        let [holder, operator] = two_clients(&quorum);
        let guard = held_by(&holder, &quorum).await;
        quorum.nodes[away].kill9();
        operator.ping().await.unwrap();
        let state = operator.inspect(KEY).await.unwrap();
        let votes = state.votes.unwrap();
        assert_eq!((votes.nodes, votes.answered, votes.agreed), (3, 2, 2));
        // If two nodes have different tokens, either may be one that the holder does not know.
        assert!(state.holders[0].token.is_some(), "{state:?}");
        let listed = list(&operator).await.unwrap();
        assert_eq!(listed.len(), 1, "once, although two have it: {listed:?}");
        let receipt = revoke(&operator, KEY, token_of(&guard).await).await;
        assert_eq!(receipt.nodes, Some(2));
        let lost = is_lost(guard).await;
        let by = "revoked by ann@ops-1: stuck import";
        assert!(lost.contains(by), "{lost}");
        assert!(!operator.inspect(KEY).await.unwrap().is_held());
        let entries = all_entries(operator.audit()).await;
        let outcomes: Vec<_> = entries.into_iter().map(|entry| entry.outcome).collect();
        assert_eq!(outcomes, [AuditOutcome::Intended, AuditOutcome::Freed]);
    }
}

/// Each node has its own entries, and several nodes have entries of one operation.
#[tokio::test]
async fn entries_without_an_id_are_all_shown() {
    let quorum = RedisQuorum::start();
    let operator = client_without_turns(quorum.url());
    let mut nodes = connections(&quorum);
    for (node, key) in [(0, "a"), (0, "b"), (1, "c")] {
        let entry = ["XADD", "{lock:}:audit", "*", "key", key, "outcome", "freed"];
        let _: String = ask(&mut nodes[node], &entry);
    }
    let entries = all_entries(operator.audit()).await;
    let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["a", "b", "c"]);
}

/// One node has both outcomes, and the other one only the first.
#[tokio::test]
async fn outcomes_of_one_operation_are_each_shown_once() {
    let quorum = RedisQuorum::start();
    let operator = client_without_turns(quorum.url());
    let mut nodes = connections(&quorum);
    for (node, outcome) in [(0, "freed"), (0, "verified"), (1, "freed")] {
        let id = ["XADD", "{lock:}:audit", "*", "operation", OPERATION];
        let _: String = ask(&mut nodes[node], &[&id[..], &["outcome", outcome]].concat());
    }
    let entries = all_entries(operator.audit()).await;
    let outcomes: Vec<_> = entries.iter().map(|entry| entry.outcome.as_str()).collect();
    assert_eq!(outcomes, ["freed", "verified"]);
}

#[tokio::test]
async fn reader_that_all_nodes_refuse_is_refused_at_the_first_page() {
    for missing in ["+scan", "+xrange"] {
        let quorum = RedisQuorum::start();
        let user = ["ACL", "SETUSER", "app", "reset", "on", ">s3cret"];
        let mut words = [&user[..], VIEWER_RIGHTS, QUORUM_VIEWER_RIGHTS].concat();
        words.retain(|right| *right != missing);
        for node in &mut connections(&quorum) {
            ask::<()>(node, &words);
        }
        let reader = quorum.url().replacen("://", "://app:s3cret@", 1);
        let reader = client_without_turns(reader);
        let locks = reader.locks().next_page().await.map(drop);
        let audit = reader.audit().next_page().await.map(drop);
        let (refused, read) = match missing {
            "+scan" => (locks, audit),
            _ => (audit, locks),
        };
        failed(refused, LockErrorKind::Rejected);
        read.unwrap();
    }
}

/// Two of three nodes have a lock, and one of them answers the operator late, or not at all.
#[tokio::test]
async fn lock_is_not_called_free_where_a_silent_node_may_have_it() {
    let quorum = RedisQuorum::start();
    let ways = proxies(&quorum);
    let operator = async |command_timeout| {
        let builder = patient(quorum.url_through(&ways));
        let operator = builder.command_timeout(command_timeout).build().unwrap();
        operator.ping().await.unwrap();
        operator
    };
    let (of_silent, of_slow) = (operator(ms(3_000)).await, operator(LONG).await);
    let value = "aaaaaaaaaaaaaaaaaaaaaa 1700000000000000 host";
    for node in &mut connections(&quorum)[1..] {
        ask::<()>(node, &["SET", LOCK, value, "PX", "60000"]);
    }
    let seen = || "1700000000000000".parse::<HolderRef>().unwrap();

    ways[2].replies(Mode::Hold);
    let error = of_silent.inspect(KEY).await.unwrap_err().to_string();
    assert!(error.contains("too few nodes answered to tell"), "{error}");
    failed(
        of_silent.revoke(KEY, seen(), revocation()).await,
        LockErrorKind::Unavailable,
    );
    let listed = list(&of_silent).await.unwrap();
    assert_eq!(listed.len(), 1, "a holder is not missed: {listed:?}");
    let votes = listed[0].votes.unwrap();
    assert_eq!((votes.nodes, votes.answered, votes.agreed), (3, 2, 1));

    // Slower than the others, and soon enough. The client has not given its connection up; otherwise it would reconnect
    // over the slow route first.
    ways[2].heal();
    ways[2].replies(Mode::Delay(ms(200)));
    assert!(of_slow.inspect(KEY).await.unwrap().is_held());
    revoke(&of_slow, KEY, seen()).await;
}

/// A Redlock of another program has one random value on all nodes. On a minority, it belongs to a caller without the
/// lock.
#[tokio::test]
async fn foreign_lock_on_a_majority_is_held_and_revoked_by_its_hash() {
    let quorum = RedisQuorum::start();
    let operator = client_without_turns(quorum.url());
    let mut nodes = connections(&quorum);
    let mut set = |node: usize, value: &str, px: &str| {
        ask::<()>(&mut nodes[node], &["SET", LOCK, value, "PX", px]);
    };
    set(0, "random", "60000");
    set(2, "another", "60000");
    let state = operator.inspect(KEY).await.unwrap();
    assert!(!state.is_held(), "{state:?}");
    assert_eq!(state.votes.unwrap().agreed, 1);
    assert!(list(&operator).await.unwrap().is_empty());
    set(1, "random", "30000");
    let state = operator.inspect(KEY).await.unwrap();
    let remaining = state.holders[0].remaining.unwrap();
    let is_short = remaining <= Duration::from_secs(30);
    assert!(is_short, "as long as a majority has it");
    let holder = &state.holders[0];
    assert_eq!(holder.kind, HolderKind::Foreign);
    revoke(&operator, KEY, holder.reference.unwrap()).await;
    let left = nodes.iter_mut().map(|node| ask(node, &["GET", LOCK]));
    let left: Vec<Option<String>> = left.collect();
    assert_eq!(left, [None, None, Some("another".to_owned())]);
}

#[tokio::test]
async fn without_a_majority_nothing_is_known_or_done() {
    let mut quorum = RedisQuorum::start();
    let operator = patient(quorum.url());
    let operator = operator.command_timeout(ms(500)).build().unwrap();
    let guard = operator.lock(KEY).acquire().await.unwrap();
    for node in [0, 2] {
        quorum.nodes[node].kill9();
    }
    for error in [
        operator.ping().await.unwrap_err(),
        operator.inspect(KEY).await.unwrap_err(),
        list(&operator).await.unwrap_err(),
        operator
            .revoke(KEY, token_of(&guard).await, revocation())
            .await
            .unwrap_err(),
    ] {
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    }
    assert_eq!(operator.held().len(), 1);
    drop(guard);
}

/// Sends the holder a message that its lock was revoked, as one node would.
fn tell(node: &mut Connection) {
    let record: String = ask(node, &["GET", LOCK]);
    let (owner, channel) = (&record[..22], format!("lock:{}", &record[..8]));
    let notice = format!("!{owner}\u{1f}{OPERATION}\u{1f}ann\u{1f}x\u{1f}{LOCK}");
    let heard: i64 = ask(node, &["PUBLISH", &channel, &notice]);
    assert_eq!(heard, 1);
}

/// A single node may have been restored from a copy: a holder with a majority continues.
#[tokio::test]
async fn message_of_one_node_does_not_end_a_lease() {
    let quorum = RedisQuorum::start();
    let holder = client_without_turns(quorum.url());
    let guard = held_by(&holder, &quorum).await;
    let mut nodes = connections(&quorum);
    for _ in 0..3 {
        tell(&mut nodes[0]);
    }
    guard.renew().await.unwrap();
    assert!(guard.is_valid());
    tell(&mut nodes[1]);
    is_lost(guard).await;
}

/// Removes the lock from these nodes. A renewal in flight to a slow node writes it again.
async fn lose(nodes: &mut [Connection]) {
    eventually("nodes without the lock", LONG, async || {
        for node in &mut *nodes {
            ask::<()>(node, &["DEL", LOCK]);
        }
        tokio::time::sleep(ms(50)).await;
        !nodes.iter_mut().any(|node| exists(node, LOCK))
    })
    .await;
}

/// A node that no longer has the lock cannot notify its holder. The holder queries all nodes once one of them has
/// notified it.
#[tokio::test]
async fn holder_is_notified_soon_of_a_revocation_on_few_nodes() {
    let quorum = RedisQuorum::start();
    let holder = client_without_turns(quorum.url());
    let guard = held_by(&holder, &quorum).await;
    let mut nodes = connections(&quorum);
    lose(&mut nodes[1..]).await;
    tell(&mut nodes[0]);
    let lost = tokio::time::timeout(LONG / 2, guard.lost());
    lost.await.expect("long before the next renewal");
    is_lost(guard).await;
}

/// One node no longer has the lock, and another node's message is late. If the holder queried the nodes before it
/// arrived, it would learn that the lock is lost, but not which operator revoked it.
#[tokio::test]
async fn holder_knows_its_revoker_although_few_nodes_report_it_at_first() {
    let quorum = RedisQuorum::start();
    let ways = proxies(&quorum);
    let holder = client_without_turns(quorum.url_through(&ways));
    let operator = client_without_turns(quorum.url());
    let guard = held_by(&holder, &quorum).await;
    lose(&mut [quorum.nodes[1].connection()]).await;
    ways[2].replies(Mode::Delay(ms(100)));
    revoke(&operator, KEY, token_of(&guard).await).await;
    let lost = is_lost(guard).await;
    assert!(lost.contains("revoked by ann@ops-1"), "{lost}");
}

/// A node that is stopped keeps its connections, and answers nothing.
#[tokio::test]
async fn silent_node_does_not_delay_operators() {
    let quorum = RedisQuorum::start();
    let builder = patient(quorum.url()).command_timeout(LONG);
    let (holder, operator) = (builder.clone().build().unwrap(), builder.build().unwrap());
    let guard = held_by(&holder, &quorum).await;
    operator.ping().await.unwrap();
    quorum.nodes[0].pause();
    let asked = Instant::now();
    operator.ping().await.unwrap();
    let state = operator.inspect(KEY).await.unwrap();
    assert_eq!(state.votes.unwrap().answered, 2);
    revoke(&operator, KEY, token_of(&guard).await).await;
    soon(guard.lost()).await;
    assert!(
        ran_since(asked) < LONG / 2,
        "a command waited for its timeout"
    );
    quorum.nodes[0].resume();
    is_lost(guard).await;
}
