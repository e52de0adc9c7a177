//! Memory clients that imitate a cluster or a quorum refuse what its clients refuse, and nothing else.

use std::time::Duration;

use harness::{KEY, RedisQuorum, hold, ms, patient};
use lock_runtime::{
    Acquire, LockClient, LockClientBuilder, LockError, LockErrorKind, LockRecord, Topology,
};

/// URLs of servers that do not exist, each with the URL of a memory client that imitates them, and their name.
const PAIRS: [(&str, &str, Option<Topology>); 4] = [
    ("redis://127.0.0.1:1", "memory://", Some(Topology::Server)),
    (
        "redis-cluster://127.0.0.1:1",
        "memory://?like=cluster",
        Some(Topology::Cluster),
    ),
    (
        "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
        "memory://?like=quorum",
        Some(Topology::Quorum),
    ),
    (
        "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3?restart_delay=300s",
        "memory://?like=quorum&restart_delay=300s",
        None,
    ),
];

type Setting = fn(LockClientBuilder) -> LockClientBuilder;

const SETTINGS: [(&str, Setting); 6] = [
    ("defaults", |builder| builder),
    ("ttl 60s", |builder| builder.ttl(Duration::from_secs(60))),
    ("ttl 61s", |builder| builder.ttl(Duration::from_secs(61))),
    ("retain", |builder| builder.retain(ms(5))),
    ("wait_replicas", |builder| builder.wait_replicas(1)),
    ("redisson", |builder| builder.record(LockRecord::Redisson)),
];

type Call = fn(&LockClient) -> Acquire;

const CALLS: [(&str, Call); 6] = [
    ("one", |client| client.lock(KEY)),
    ("none", |client| client.lock_all([""; 0])),
    ("one of several", |client| client.lock_all([KEY])),
    ("several", |client| client.lock_all(["a", "b"])),
    ("tagged", |client| client.lock_all(["{t}:a", "{t}:b"])),
    ("too many", |client| {
        client.lock_all((0..33).map(|number| format!("{{t}}:{number}")))
    }),
];

type WithOption = (&'static str, fn(Acquire) -> Acquire);

const OPTIONS: [WithOption; 12] = [
    ("none", |call| call),
    ("runs", |call| call.runs(3)),
    ("too many runs", |call| call.runs(1_001)),
    ("ttl", |call| call.ttl(Duration::from_secs(90))),
    ("max_hold", |call| call.max_hold(ms(5_000))),
    ("renew", |call| call.renew(false)),
    ("read", Acquire::read),
    ("write", Acquire::write),
    ("permits", |call| call.permits(3)),
    ("take", |call| call.take(2)),
    ("min_hold", |call| call.min_hold(ms(1))),
    ("retain", |call| call.retain(ms(5))),
];

/// The kind and the sentence of a refusal; `None` if a command would be sent.
fn refusal<T>(outcome: Result<T, LockError>) -> Option<(LockErrorKind, String)> {
    match outcome {
        Ok(_) => None,
        Err(error) if error.is_unavailable() => None,
        Err(error) => Some((error.kind(), error.to_string())),
    }
}

fn built(url: &str, set: Setting) -> Result<LockClient, LockError> {
    set(patient(url).command_timeout(ms(10))).build()
}

#[test]
fn memory_client_refuses_the_same_as_its_servers() {
    let mut refused = 0;
    for (url, like, topology) in PAIRS {
        for (setting, set) in SETTINGS {
            let (servers, memory) = (built(url, set), built(like, set));
            let (servers, memory) = match (servers, memory) {
                (Ok(servers), Ok(memory)) => (servers, memory),
                (servers, memory) => {
                    refused += 1;
                    assert_eq!(refusal(servers), refusal(memory), "{like}: {setting}");
                    continue;
                }
            };
            if !["defaults", "redisson"].contains(&setting) {
                continue;
            }
            let named = topology.filter(|_| setting == "defaults");
            let named = named.map(LockClient::memory_like);
            for (keys, call) in CALLS {
                for ((one, with), (other, with_other)) in pairs(keys) {
                    let attempt = |client: &LockClient| {
                        refusal(with_other(with(call(client))).try_acquire_blocking())
                    };
                    let by_servers = attempt(&servers);
                    refused += usize::from(by_servers.is_some());
                    let case = format!("{like}: {setting}, {keys}, {one}, {other}");
                    for memory in [Some(&memory), named.as_ref()].into_iter().flatten() {
                        assert_eq!(attempt(memory), by_servers, "{case}");
                    }
                }
            }
        }
    }
    assert!(refused > 500, "{refused}");
}

/// Each option by itself. For one key and for several also every pair, of which one is refused first.
fn pairs(keys: &str) -> Vec<(WithOption, WithOption)> {
    let (first, ones) = (OPTIONS[0], OPTIONS.map(|option| (OPTIONS[0], option)));
    let two = OPTIONS.iter().enumerate().flat_map(|(number, one)| {
        let others = OPTIONS[number..].iter();
        others.map(move |other| (*one, *other))
    });
    match keys {
        "one" | "several" => two
            .filter(|(one, _)| one.0 != first.0)
            .chain(ones)
            .collect(),
        _ => ones.into(),
    }
}

#[tokio::test]
async fn writer_of_a_quorum_is_not_downgraded_in_memory_either() {
    let quorum = RedisQuorum::start();
    let servers = harness::client(quorum.url());
    let mut sentences = Vec::new();
    for client in [servers, LockClient::memory_like(Topology::Quorum)] {
        let refused = hold(&client).await.downgrade().await;
        sentences.push(refusal(refused.map(drop)).expect("a quorum has no readers"));
    }
    assert_eq!(sentences[0], sentences[1]);
    assert!(sentences[0].1.contains("readers"), "{sentences:?}");
}
