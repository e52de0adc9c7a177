//! Different arguments have different keys, and the three records of a lock are in one slot.
//!
//! The arguments are small and adversarial: pieces of escapes, separators and braces, so that
//! confusable pairs occur all the time.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::net::IpAddr;

use harness::{Form, Proxy, RedisServer, ask, client};
use lock_runtime::{LockClient, LockError, distributed_lock};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// The number of tuples for each template.
fn tuples() -> usize {
    Form::of_this_run().pick(5_000, 25_000)
}

/// The number of locks for each template, on a server that checks the slots.
fn locks_of_each() -> usize {
    Form::of_this_run().pick(100, 500)
}

const PIECES: &[&str] = &[
    "a", "A", "b", "0", "1", "3", "3A", "%", "%3A", "%3a", "%2F", "%%", ":", "/", ":f", ":w", "{",
    "}", "{}", "{a}", "<", ">", "<a>", " ", "\0", "\n", "\\", "\"", ".", "-", "_", "@", "+", "*",
    "é", "e\u{301}", "漢", "🦀",
];

/// Never empty: another test covers that an empty value is refused.
fn text() -> impl Strategy<Value = String> {
    vec(select(PIECES), 1..4).prop_map(|pieces| pieces.concat())
}

#[distributed_lock(key = "file:<tenant>/<path>", client = locks, guard = held)]
async fn of_texts(
    locks: &LockClient,
    (tenant, path): (String, String),
) -> Result<String, LockError> {
    Ok(held.key().to_owned())
}

#[distributed_lock(key = "{<shop>}:<name>:<letter>", client = locks, guard = held)]
async fn with_a_tag(
    locks: &LockClient,
    (shop, name, letter): (String, String, char),
) -> Result<String, LockError> {
    Ok(held.key().to_owned())
}

#[distributed_lock(key = "<n>:<text>:<flag>/<m>", client = locks, guard = held)]
async fn of_numbers(
    locks: &LockClient,
    (n, text, flag, m): (i8, String, bool, u16),
) -> Result<String, LockError> {
    Ok(held.key().to_owned())
}

#[distributed_lock(key = "<from>/<to>#<text>", client = locks, guard = held)]
async fn of_addresses(
    locks: &LockClient,
    (from, to, text): (IpAddr, IpAddr, String),
) -> Result<String, LockError> {
    Ok(held.key().to_owned())
}

/// A small set, such as `::1`, `::` and lookalikes.
fn address() -> impl Strategy<Value = IpAddr> {
    let groups = vec(select(&[0_u16, 1, 0x10, 0xffff][..]), 8);
    groups.prop_map(|groups| match groups[..] {
        [0, 0, 0, 0, ..] => IpAddr::from([groups[4] as u8, groups[5] as u8, 0, 1]),
        _ => IpAddr::from(<[u16; 8]>::try_from(groups).expect("eight groups")),
    })
}

/// The keys of [`tuples`], each with its own.
async fn keys_of<T: Clone + Debug + Eq + Hash>(
    tuples: impl Strategy<Value = T>,
    lock: impl AsyncFn(T) -> Result<String, LockError>,
) -> Vec<String> {
    let mut runner = TestRunner::default();
    let mut owners: HashMap<String, T> = HashMap::new();
    for _ in 0..self::tuples() {
        let tuple = tuples.new_tree(&mut runner).expect("nothing is left out");
        let tuple = tuple.current();
        let key = lock(tuple.clone()).await.expect("every value makes a key");
        if let Some(other) = owners.insert(key.clone(), tuple.clone()) {
            assert_eq!(other, tuple, "both have the key {key:?}");
        }
    }
    owners.into_keys().collect()
}

#[tokio::test]
async fn no_two_tuples_of_arguments_share_a_key() {
    let locks = LockClient::memory();
    let keys = [
        keys_of((text(), text()), |args| of_texts(&locks, args)).await,
        keys_of((text(), text(), any::<char>()), |args| {
            with_a_tag(&locks, args)
        })
        .await,
        keys_of((any::<i8>(), text(), any::<bool>(), any::<u16>()), |args| {
            of_numbers(&locks, args)
        })
        .await,
        keys_of((address(), address(), text()), |args| {
            of_addresses(&locks, args)
        })
        .await,
    ];
    let different: Vec<usize> = keys.iter().map(Vec::len).collect();
    println!(
        "{} tuples, different ones of each template: {different:?}",
        keys.len() * tuples()
    );
    assert!(
        different.iter().all(|keys| *keys > tuples() / 2),
        "the same again and again"
    );

    // A cluster node that has every slot refuses a script whose keys are in two slots. Clients refuse such a node,
    // unless it reports another mode.
    let server = RedisServer::builder()
        .config("cluster-enabled", "yes")
        .start();
    let mut connection = server.connection();
    let _: () = ask(&mut connection, &["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    let proxy = Proxy::start(server.port());
    proxy.replace_in_replies("$7\r\ncluster", "$10\r\nstandalone");
    let client = client(proxy.url());
    for key in keys.iter().flat_map(|keys| &keys[..locks_of_each()]) {
        let guard = client.lock(&key[..]).acquire().await;
        let guard = guard.unwrap_or_else(|error| panic!("{key:?}: {error}"));
        guard.release().await.expect("it was held");
    }
}
