//! The effect of a retained lease on other clients.

use std::time::Instant;

use harness::{KEY, LOCK, LONG, QUEUE, RedisServer, ask, client, eventually, ms};

use super::tools::{RETAIN, connected, retaining, visit};

/// The client is notified of the new waiter and ends the lease in its favour; the waiter confirms it.
#[tokio::test]
async fn a_waiter_of_another_client_has_a_retained_lock_at_once() {
    let server = RedisServer::start();
    let (ours, other) = (connected(&server).await, connected(&server).await);
    let mut monitor = server.monitor();
    // The first round loads the script.
    for commands in [4, 3] {
        let token = visit(&ours).await;
        monitor.take();
        let asked = Instant::now();
        let guard = other.lock(KEY).wait(LONG).await.unwrap();
        assert!(asked.elapsed() < RETAIN / 2);
        assert!(guard.fencing_token().get() > token);
        let mut sent = monitor.take();
        // A waiter on a slow machine polls more than once.
        sent.dedup_by(|one, last| one.text == last.text);
        assert_eq!(sent.len(), commands, "{sent:?}");
        guard.release().await.unwrap();
    }
}

/// The runtime of the last caller is not polled: the background reads the message.
#[test]
fn a_waiter_of_another_client_has_a_retained_lock_from_a_blocked_runtime() {
    let server = RedisServer::start();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let standing = runtime();
    let (ours, token) = standing.block_on(async {
        let ours = connected(&server).await;
        let token = visit(&ours).await;
        (ours, token)
    });
    let asked = Instant::now();
    let guard = runtime().block_on(async {
        let other = connected(&server).await;
        other.lock(KEY).wait(LONG).await.unwrap()
    });
    assert!(asked.elapsed() < RETAIN / 2);
    assert!(guard.fencing_token().get() > token);
    drop((guard, ours));
}

/// The thread that had the lease last reads nothing any more.
#[test]
fn a_waiter_of_another_client_has_a_retained_lock_from_a_thread_that_blocked() {
    let server = RedisServer::start();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let ours = runtime().block_on(connected(&server));
    let guard = retaining(&ours).acquire_blocking().unwrap();
    let token = guard.fencing_token();
    guard.release_blocking().unwrap();
    let asked = Instant::now();
    let guard = runtime().block_on(async {
        let other = connected(&server).await;
        other.lock(KEY).wait(LONG).await.unwrap()
    });
    assert!(asked.elapsed() < RETAIN / 2);
    assert!(guard.fencing_token() > token);
    drop((guard, ours));
}

/// The client that retained the lock last queues behind the other.
#[tokio::test]
async fn clients_that_both_retain_a_lock_take_turns() {
    let server = RedisServer::start();
    let (ours, other) = (connected(&server).await, connected(&server).await);
    let mut last = 0;
    for _ in 0..10 {
        for client in [&ours, &other] {
            let token = visit(client).await;
            assert!(token > last);
            last = token;
        }
    }
}

#[tokio::test]
async fn a_lock_with_waiters_of_another_client_is_not_retained() {
    let server = RedisServer::start();
    let (ours, other) = (connected(&server).await, connected(&server).await);
    let guard = retaining(&ours).await.unwrap();
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    let mut connection = server.connection();
    eventually("waiter", LONG, async || {
        ask::<bool>(&mut connection, &["EXISTS", QUEUE])
    })
    .await;
    guard.release().await.unwrap();
    let next = waiting.await.unwrap().unwrap();
    // This client queues behind the other one, which has the lock.
    assert!(ours.lock(KEY).try_acquire().await.unwrap().is_none());
    next.release().await.unwrap();
}

#[tokio::test]
async fn an_attempt_of_another_client_is_busy_until_the_retained_lease_ends() {
    let server = RedisServer::start();
    let (ours, other) = (connected(&server).await, connected(&server).await);
    visit(&ours).await;
    assert!(other.lock(KEY).try_acquire().await.unwrap().is_none());
    // A caller of this client that retains the lease for 1 ms.
    let brief = retaining(&ours).retain(ms(1));
    brief.await.unwrap().release().await.unwrap();
    eventually("free lock", LONG, async || {
        other.lock(KEY).try_acquire().await.unwrap().is_some()
    })
    .await;
}

/// Without the message, the other client has the lock when the retained time is over.
#[tokio::test]
async fn a_message_that_is_lost_costs_the_time_that_is_left() {
    let server = RedisServer::start();
    let (ours, other) = (connected(&server).await, connected(&server).await);
    // PUBLISH finds no receiver, since the client may not subscribe.
    let guard = retaining(&ours).retain(ms(2_000)).await.unwrap();
    let mut connection = server.connection();
    let mut queue = redis::cmd("EVAL");
    // The flag that a waiter sets, without its message.
    let flagged = "local v = redis.call('GET', KEYS[1]) \
                   return redis.call('SET', KEYS[1], v:sub(1, 22) .. '+' .. v:sub(24), 'KEEPTTL')";
    let _: () = queue
        .arg(flagged)
        .arg(1)
        .arg(LOCK)
        .query(&mut connection)
        .unwrap();
    guard.release().await.unwrap();
    assert!(
        ask::<bool>(&mut connection, &["EXISTS", LOCK]),
        "it is retained"
    );
    eventually("end", LONG, async || {
        other.lock(KEY).try_acquire().await.unwrap().is_some()
    })
    .await;
    drop(client(server.url()));
}
