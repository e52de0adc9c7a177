//! Renewals of many leases on a quorum.

use std::time::{Duration, Instant};

use harness::{LONG, RedisQuorum, RedisServer, client, eventually, figure};

use crate::take_in_a_burst;

const LOCKS: u32 = 3_000;

/// The shortest ttl. A lease is renewed after a third of it, so on a fast machine four renewals fall due within two
/// milliseconds and are sent together. A slow machine gets a longer ttl, and has more renewals due at once.
const TTL: Duration = Duration::from_secs(4);

/// The number of scripts that a node has run, and of reads from its sockets.
fn look(nodes: &[&RedisServer]) -> Vec<[u64; 2]> {
    let figures = |node: &&RedisServer| {
        ["cmdstat_evalsha:calls", "total_reads_processed"]
            .map(|name| figure(&mut node.connection(), name))
    };
    nodes.iter().map(figures).collect()
}

/// A node reads the renewals of a batch at once. Their leases began together, and so their renewals fall due together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewals_that_fall_due_together_are_one_pipeline_for_each_node() {
    let _alone = crate::ALONE.lock().await;
    let mut quorum = RedisQuorum::start();
    let asked = Instant::now();
    for guard in take_in_a_burst(&client(quorum.url()), LOCKS, RedisQuorum::DELAY).await {
        guard.release().await.expect("it was held throughout");
    }
    let ttl = TTL.max(4 * asked.elapsed()).min(RedisQuorum::DELAY);
    // A look is read, too: on a slow machine there are hundreds.
    let [first, second] = [(); 2].map(|()| look(&[&quorum.nodes[0]])[0][1]);
    let of_a_look = second - first;
    let guards = take_in_a_burst(&client(quorum.url()), LOCKS, ttl).await;
    for is_away in [false, true] {
        if is_away {
            quorum.nodes[1].kill9();
        }
        let nodes = quorum.nodes.iter().enumerate();
        let nodes = nodes.filter(|(number, _)| !is_away || *number != 1);
        let nodes: Vec<&RedisServer> = nodes.map(|(_, node)| node).collect();
        let (since, before) = (Instant::now(), look(&nodes));
        let (mut after, mut looks) = (Vec::new(), 0);
        eventually("renewal of each lease", LONG * 3, async || {
            after = look(&nodes);
            looks += 1;
            let mut pairs = before.iter().zip(&after);
            pairs.all(|(before, after)| after[0] - before[0] >= LOCKS.into())
        })
        .await;
        let thirds = since.elapsed().as_secs_f64() / (ttl / 3).as_secs_f64();
        for (before, after) in before.iter().zip(&after) {
            let [sent, read] = [0, 1].map(|figure| after[figure] - before[figure]);
            let read = read - looks * of_a_look;
            println!("{sent} renewals in {read} reads");
            assert!(read * 2 <= sent, "{sent} renewals in {read} reads");
            // Each lease is renewed once in a third of its ttl, and not repeatedly.
            let most = f64::from(LOCKS) * (thirds * 1.5 + 1.0);
            assert!(sent as f64 <= most, "{sent} renewals, {thirds} are due");
        }
    }
    let lost = guards.iter().filter(|guard| !guard.is_valid()).count();
    assert_eq!(lost, 0, "locks were lost");
}
