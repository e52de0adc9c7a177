//! A connection that breaks in mid-command: the client does not know whether the command was carried
//! out.

use super::{LOCK, ask, behind_a_proxy, hold, ms, nothing_is_left, served, soon};

/// The proxy recognizes a lock's command by the lock's name.
const COMMAND: &str = LOCK;

#[tokio::test]
async fn an_acquire_whose_reply_is_cut_finds_itself_the_holder() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    for round in 1..=5 {
        let minted = |connection: &mut _| -> u64 {
            let fence: String = ask(connection, &["GET", "{lock:order:42}:f"]);
            fence.parse().unwrap()
        };
        proxy.cut_next_reply(COMMAND);
        let guard = soon(hold(&client)).await;
        assert_eq!(proxy.cuts(), round, "the fault happened");
        let value: String = ask(&mut connection, &["GET", LOCK]);
        let token = guard.fencing_token().get();
        assert_eq!(value[23..39].parse::<u64>().unwrap(), token);
        // The repeated acquire had the same owner, so no second token was made.
        assert_eq!(minted(&mut connection), token);
        guard.release().await.unwrap();
        assert_eq!(ask::<i64>(&mut connection, &["EXISTS", LOCK]), 0);
    }
}

#[tokio::test]
async fn an_acquire_that_never_arrived_is_sent_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    for round in 1..=5 {
        proxy.cut_next_request(COMMAND);
        let guard = soon(hold(&client)).await;
        assert_eq!(proxy.cuts(), round, "the fault happened");
        guard.release().await.unwrap();
    }
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}

#[tokio::test]
async fn a_single_attempt_that_is_cut_leaves_nothing_behind() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    for round in 0..6 {
        if round % 2 == 0 {
            proxy.cut_next_reply(COMMAND);
        } else {
            proxy.cut_next_request(COMMAND);
        }
        let attempt = client.lock(super::KEY).try_acquire().await;
        assert!(attempt.unwrap_err().is_unavailable());
        nothing_is_left(&mut connection, ms(5_000)).await;
    }
}

#[tokio::test]
async fn a_release_that_is_cut_is_sent_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    for round in 0..6 {
        let guard = soon(hold(&client)).await;
        if round % 2 == 0 {
            proxy.cut_next_reply(COMMAND);
        } else {
            proxy.cut_next_request(COMMAND);
        }
        guard.release().await.expect("it was held until here");
        nothing_is_left(&mut connection, ms(5_000)).await;
    }
}

#[tokio::test]
async fn a_renewal_that_is_cut_is_sent_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    // A lease that a stalled machine does not lose.
    let lease = client.lock(super::KEY).ttl(ms(6_000));
    let guard = lease.acquire().await.unwrap();
    let mut connection = server.connection();
    let mut rest = || ask::<i64>(&mut connection, &["PTTL", LOCK]);
    for round in 1..=4 {
        if round % 2 == 0 {
            proxy.cut_next_reply(COMMAND);
        } else {
            proxy.cut_next_request(COMMAND);
        }
        harness::eventually("cut renewal", super::LONG, async || proxy.cuts() == round).await;
        let mut before = rest();
        // By a renewal that was not cut.
        harness::eventually("renewal", super::LONG, async || {
            let now = rest();
            std::mem::replace(&mut before, now) < now
        })
        .await;
    }
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_waiter_whose_connection_breaks_keeps_its_place() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    let other = super::client(server.url());
    let guard = soon(hold(&other)).await;
    let waiting = tokio::spawn(client.lock(super::KEY).wait(super::LONG).acquire());
    let members = async |connection: &mut _| -> Vec<String> {
        ask(connection, &["ZRANGE", super::QUEUE, "0", "-1"])
    };
    harness::eventually("entry in the queue", super::LONG, async || {
        members(&mut connection).await.len() == 2
    })
    .await;
    let before = members(&mut connection).await;
    for _ in 0..3 {
        let accepted = proxy.accepted();
        proxy.kill_connections();
        // The broken connection wakes the waiter, which polls at once.
        harness::eventually("new connection", super::LONG, async || {
            proxy.accepted() > accepted
        })
        .await;
    }
    assert_eq!(before, members(&mut connection).await);
    guard.release().await.unwrap();
    served(waiting).await.release().await.unwrap();
    nothing_is_left(&mut connection, ms(5_000)).await;
}
