//! Locks that replicas must have before their callers do.

use harness::{
    KEY, LOCK, LONG, QUEUE, REPLICA_RIGHTS, RedisServer, client, eventually, exists, figure, hold,
    ms, nothing_is_left, patient, revoke, sees_waiters, served, soon, token_of,
};
use lock_runtime::{LockClient, LockErrorKind};
use tokio::task::JoinSet;

/// A primary with replicas that have all of its data.
fn replicated(replicas: usize) -> (RedisServer, Vec<RedisServer>) {
    let primary = RedisServer::builder().rights(REPLICA_RIGHTS).start();
    let replicas = (0..replicas).map(|_| primary.replica()).collect();
    (primary, replicas)
}

/// A client that waits for this many replicas.
fn waiting_client(url: String, replicas: u32) -> LockClient {
    let builder = patient(url).wait_replicas(replicas);
    builder.build().expect("the settings are valid")
}

/// How often a server ran a command.
fn calls(server: &RedisServer, command: &str) -> u64 {
    let name = format!("cmdstat_{command}:calls");
    figure(&mut server.connection(), &name)
}

#[tokio::test]
async fn lock_of_each_mode_is_on_all_replicas_when_its_caller_has_it() {
    let (primary, replicas) = replicated(2);
    let client = client(format!("{}?wait_replicas=2", primary.url()));
    let mut replicas: Vec<_> = replicas.iter().map(RedisServer::connection).collect();
    for number in 0..20 {
        let key = |name: &str| format!("{name}:{number}");
        let mut guards = Vec::new();
        for (acquire, keys) in [
            (client.lock(key("plain")), vec![key("plain")]),
            (client.lock(key("read")).read(), vec![key("read")]),
            (client.lock(key("write")).write(), vec![key("write")]),
            (
                client.lock_all([key("a"), key("b")]),
                vec![key("a"), key("b")],
            ),
        ] {
            guards.push(acquire.acquire().await.unwrap());
            for replica in &mut replicas {
                let has = |key: &String| exists(replica, &format!("lock:{key}"));
                assert!(keys.iter().all(has), "{keys:?}");
            }
        }
        guards.push(client.lock(key("read")).read().acquire().await.unwrap());
        let shares = format!("{{lock:{}}}:r", key("read"));
        for replica in &mut replicas {
            let members: Vec<String> = harness::ask(replica, &["ZRANGE", &shares, "0", "-1"]);
            assert_eq!(members.len(), 3, "two readers and the sum: {members:?}");
        }
        for guard in guards {
            guard.release().await.unwrap();
        }
    }
}

#[tokio::test]
async fn lock_on_too_few_replicas_is_released() {
    let (primary, replicas) = replicated(1);
    let client = waiting_client(primary.url(), 1);
    hold(&client).await.release().await.unwrap();
    replicas[0].pause();
    for wait in [ms(0), ms(400)] {
        let error = client.lock(KEY).wait(wait).acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        let text = error.to_string();
        assert!(
            text.contains("0 of 1 replicas acknowledged the lock within 100ms"),
            "{text}"
        );
        nothing_is_left(&mut primary.connection(), LONG).await;
    }
    replicas[0].resume();
    hold(&client).await.release().await.unwrap();
}

/// A caller finds the record of another caller, of its own client or not, that is about to give the lock back. `Busy`
/// would make `on_busy = "skip"` skip work that nobody does.
#[tokio::test]
async fn no_caller_gets_busy_while_replicas_are_away() {
    let (primary, replicas) = replicated(1);
    let clients = [(); 2].map(|()| waiting_client(primary.url(), 1));
    let all = |wait: u64| {
        let mut callers = JoinSet::new();
        for client in &clients {
            for _ in 0..8 {
                callers.spawn(client.lock(KEY).wait(ms(wait)).acquire());
            }
            callers.spawn(client.lock(KEY).read().wait(ms(wait)).acquire());
            callers.spawn(client.lock_all([KEY, "another"]).wait(ms(wait)).acquire());
        }
        callers.join_all()
    };
    hold(&clients[0]).await.release().await.unwrap();
    replicas[0].pause();
    for wait in [0, 400] {
        for outcome in all(wait).await {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
            assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
        }
    }
    replicas[0].resume();
    let guard = hold(&clients[0]).await;
    for outcome in all(0).await {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Busy, "{error}");
    }
    guard.release().await.unwrap();
}

/// The client requires two of three; the third may lack the lock.
#[tokio::test]
async fn replica_that_is_not_needed_may_be_away() {
    let (primary, replicas) = replicated(2);
    replicas[1].pause();
    let client = waiting_client(primary.url(), 1);
    hold(&client).await.release().await.unwrap();
    let strict = waiting_client(primary.url(), 2);
    let error = strict.lock(KEY).wait(ms(0)).acquire().await.unwrap_err();
    assert!(error.to_string().contains("1 of 2 replicas"), "{error}");
    replicas[1].resume();
}

#[tokio::test]
async fn caller_that_waits_has_the_lock_once_replicas_are_back() {
    let (primary, replicas) = replicated(1);
    let client = waiting_client(primary.url(), 1);
    hold(&client).await.release().await.unwrap();
    replicas[0].pause();
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    // It was refused at least once.
    eventually("second WAIT", LONG, async || calls(&primary, "wait") >= 3).await;
    assert!(!waiting.is_finished());
    replicas[0].resume();
    served(waiting).await.release().await.unwrap();
}

/// A grant to the next caller, of the same client or of another one, is awaited like any other.
#[tokio::test]
async fn lock_that_is_handed_off_waits_for_replicas_too() {
    let (primary, replicas) = replicated(1);
    let clients = [(); 2].map(|()| {
        let builder = patient(primary.url());
        builder.wait_replicas(1).local_turns(1).build().unwrap()
    });
    let mut admin = primary.connection();
    for next in &clients {
        let guard = hold(&clients[0]).await;
        let waiting = tokio::spawn(next.lock(KEY).wait(ms(1_500)).acquire());
        if !std::ptr::eq(next, &clients[0]) {
            eventually("waiter", LONG, async || exists(&mut admin, QUEUE)).await;
        } else {
            tokio::task::yield_now().await;
        }
        replicas[0].pause();
        guard.release().await.unwrap();
        let error = soon(waiting).await.unwrap().unwrap_err();
        assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
        replicas[0].resume();
        nothing_is_left(&mut admin, LONG).await;
    }
}

/// The operator's command, which waits for no replica, grants the lock to the waiter behind a revoked holder.
#[tokio::test]
async fn lock_that_is_revoked_is_on_a_replica_when_the_next_caller_has_it() {
    let (primary, replicas) = replicated(1);
    let clients = [(); 3].map(|()| waiting_client(primary.url(), 1));
    let [holder, next, operator] = &clients;
    let mut replica = replicas[0].connection();
    for is_silent in [false, true] {
        let first = hold(holder).await;
        let token = token_of(&first).await;
        let wait = if is_silent { ms(1_500) } else { LONG };
        let waiting = tokio::spawn(next.lock(KEY).wait(wait).acquire());
        sees_waiters(operator, KEY, 1).await;
        if is_silent {
            replicas[0].pause();
        }
        revoke(operator, KEY, token).await;
        soon(first.lost()).await;
        let granted = soon(waiting).await.unwrap();
        if is_silent {
            let error = granted.unwrap_err();
            assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
            replicas[0].resume();
        } else {
            let second = granted.unwrap();
            assert!(token_of(&second).await > token);
            let record: String = harness::ask(&mut replica, &["GET", LOCK]);
            let own = format!("{:016}", token_of(&second).await.get());
            assert_eq!(record.get(23..39), Some(own.as_str()), "{record}");
            second.release().await.unwrap();
        }
        assert!(first.release().await.unwrap_err().is_lost());
        nothing_is_left(&mut primary.connection(), LONG).await;
    }
    let third = hold(holder).await;
    third.release().await.unwrap();
}

/// A WAIT blocks the commands behind it, so it follows the writes of all callers that came together.
#[tokio::test]
async fn callers_that_come_together_share_a_wait() {
    const CALLERS: u64 = 200;
    let (primary, _replicas) = replicated(1);
    let client = waiting_client(primary.url(), 1);
    hold(&client).await.release().await.unwrap();
    let before = calls(&primary, "wait");
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        callers.spawn(client.lock(format!("order:{number}")).wait(LONG).acquire());
    }
    let guards = callers.join_all().await;
    assert!(guards.iter().all(Result::is_ok));
    let waits = calls(&primary, "wait") - before;
    assert!(waits <= CALLERS / 4, "{waits} for {CALLERS} callers");
    // It is on a connection of its own, not on the one that receives messages.
    let mut admin = primary.connection();
    let channels: Vec<String> = harness::ask(&mut admin, &["PUBSUB", "CHANNELS"]);
    assert_eq!(channels.len(), 1, "{channels:?}");
    let words = ["PUBSUB", "NUMSUB", &channels[0]];
    let (_, subscribers): (String, i64) = harness::ask(&mut admin, &words);
    assert_eq!(subscribers, 1);
}
