//! Renewals of many leases.

use std::time::{Duration, Instant};

use harness::{LONG, RedisQuorum, RedisServer, ask, client, eventually};
use lock_runtime::{LockClient, LockGuard};
use tokio::task::JoinSet;

const LOCKS: usize = 3_000;

/// Renewals are a third of it apart. Those that fall due within two milliseconds are sent together, which are four of them.
const TTL: Duration = Duration::from_secs(4);

async fn held(client: &LockClient) -> Vec<LockGuard> {
    let mut callers = JoinSet::new();
    for number in 0..LOCKS {
        let lock = client.lock(format!("bulk:{number}"));
        callers.spawn(lock.ttl(TTL).wait(LONG).acquire());
    }
    let guards = callers.join_all().await.into_iter();
    guards.map(|guard| guard.expect("it is free")).collect()
}

/// How many commands of this name, or of all names, a node has carried out, and how often it read any from a socket.
fn figure(node: &RedisServer, section: &str, line: &str) -> usize {
    let info: String = ask(&mut node.connection(), &["INFO", section]);
    let text = info.lines().find_map(|text| text.strip_prefix(line));
    let text = text.unwrap_or("0");
    let digits = text.split(',').next().expect("a list has an entry");
    digits.parse().expect("it is a number")
}

fn scripts(node: &RedisServer) -> usize {
    figure(node, "commandstats", "cmdstat_evalsha:calls=")
}

fn reads(node: &RedisServer) -> usize {
    figure(node, "stats", "total_reads_processed:")
}

/// A node reads the renewals of a batch at once. Their leases began together, and so their renewals fall due together.
#[tokio::test]
async fn renewals_that_fall_due_together_are_one_pipeline_for_each_node() {
    let mut quorum = RedisQuorum::start();
    let client = client(quorum.url());
    let guards = held(&client).await;
    for away in [false, true] {
        if away {
            quorum.nodes[1].kill9();
        }
        let there = || quorum.nodes.iter().enumerate();
        let there = || there().filter(|(node, _)| !away || *node != 1);
        let look = || -> Vec<[usize; 2]> {
            there()
                .map(|(_, node)| [scripts(node), reads(node)])
                .collect()
        };
        let (since, before) = (Instant::now(), look());
        let mut after = Vec::new();
        eventually("renewal of each lease", LONG, async || {
            after = look();
            let mut pairs = before.iter().zip(&after);
            pairs.all(|(before, after)| after[0] - before[0] >= LOCKS)
        })
        .await;
        let thirds = since.elapsed().as_secs_f64() / (TTL / 3).as_secs_f64();
        for (before, after) in before.iter().zip(&after) {
            let [sent, read] = [0, 1].map(|figure| after[figure] - before[figure]);
            println!("{sent} renewals in {read} reads");
            assert!(read * 2 <= sent, "{sent} renewals in {read} reads");
            // Each lease once in a third of its ttl, and not again and again.
            let most = LOCKS as f64 * (thirds * 1.5 + 1.0);
            assert!(sent as f64 <= most, "{sent} renewals, {thirds} are due");
        }
    }
    let lost = guards.iter().filter(|guard| !guard.is_valid()).count();
    assert_eq!(lost, 0, "locks were lost");
    drop(guards);
    client.shutdown().await;
}
