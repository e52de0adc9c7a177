//! Fencing tokens rise over successive holders.

use harness::{
    KEY, LONG, RedisQuorum, RedisServer, client_without_turns, eventually, host_of, ms, patient,
    quorum_url, token_of,
};
use lock_runtime::LockClient;
use std::time::Duration;

use super::{nothing_is_left_on, proxies};

async fn token(client: &LockClient) -> u64 {
    let guard = client.lock(KEY).wait(LONG).acquire().await;
    let guard = guard.expect("a majority answers");
    let token = token_of(&guard).await.get();
    // The lease may be short, and have ended.
    let _ = guard.release().await;
    token
}

/// Three nodes with a clock each.
fn clocked(delay: Duration) -> RedisQuorum {
    RedisQuorum::of((0..3).map(|_| RedisServer::builder().own_clock()), delay)
}

/// For each node, a client that reaches only the others.
fn clients_without_one(quorum: &RedisQuorum, delay: Duration) -> Vec<LockClient> {
    let nodes = quorum.nodes.iter();
    let hosts: Vec<String> = nodes.map(|node| host_of(&node.url())).collect();
    let parameters = format!("?restart_delay={}ms", delay.as_millis());
    let without = |away: usize| {
        let mut hosts = hosts.clone();
        // Nothing listens there.
        "127.0.0.1:1".clone_into(&mut hosts[away]);
        let url = quorum_url(&hosts, &parameters);
        let builder = patient(url).ttl(delay);
        builder.local_turns(1).build().unwrap()
    };
    (0..hosts.len()).map(without).collect()
}

/// Two holders follow each other in less time than the clocks differ by, and have one node in common. A node accepts no
/// proposed token that is ahead of its clock by a quarter of the delay: then the client writes the token back.
#[tokio::test]
async fn tokens_rise_with_clocks_apart_and_another_majority_for_each_holder() {
    const APART: Duration = ms(200);
    // Less than four times that: a quarter of it is less than APART.
    const DELAY: Duration = ms(4 * 200 - 50);
    let quorum = clocked(DELAY);
    quorum.nodes[0].forward(APART);
    quorum.nodes[2].back(APART);
    let clients = clients_without_one(&quorum, DELAY);
    let mut last = 0;
    // A client without the node whose clock is ahead comes both before and after each client with it.
    for away in [0, 1, 2, 2, 1, 0].repeat(10) {
        let token = token(&clients[away]).await;
        assert!(token > last, "{token} after {last}, without node {away}");
        last = token;
    }
}

#[tokio::test]
async fn node_whose_clock_is_far_off_does_not_count_until_it_is_right() {
    const OFF: Duration = Duration::from_secs(600);
    let quorum = clocked(RedisQuorum::DELAY);
    quorum.nodes[2].forward(OFF);
    let proxies = proxies(&quorum);
    let client = client_without_turns(quorum.url_through(&proxies));
    token(&client).await;
    // Without another node, the node whose clock is off cannot form a majority.
    proxies[0].refuse(true);
    proxies[0].kill_connections();
    let error = client.lock(KEY).wait(ms(200)).acquire().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    let words = "off those of the others";
    assert!(error.to_string().contains(words), "{error}");
    nothing_is_left_on(&quorum.nodes[2]).await;
    quorum.nodes[2].back(OFF);
    eventually("vote of that node", LONG, async || {
        let acquired = client.lock(KEY).wait(ms(200)).acquire().await;
        acquired.is_ok()
    })
    .await;
}
