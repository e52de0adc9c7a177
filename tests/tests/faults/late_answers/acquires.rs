//! Acquires that arrive when their owner has ended.

use std::time::Duration;

use harness::{
    ACQUIRE, FENCE, KEY, LOCK, LONG, Mode, Monitor, Proxy, QUEUE, RedisServer, cycle, eventually,
    exists, ms, nothing_is_left,
};
use lock_runtime::{LockClient, LockErrorKind};

/// Longer than an owner with the shortest ttl is ended again.
const TTL: Duration = Duration::from_secs(60);

/// The queue entry that an `end` was sent for, as soon as one is.
async fn ended(monitor: &mut Monitor) -> String {
    let mut entry = None;
    eventually("end of the owner", LONG, async || {
        let commands = monitor.take().into_iter();
        entry = commands
            .filter(|command| command.text.contains(LOCK))
            .find_map(|command| {
                // EVALSHA sha 3 lock fence queue entry: an acquire has a ttl, too.
                let words: Vec<&str> = command.text.split('"').skip(1).step_by(2).collect();
                (words.len() == 7).then(|| words[6].to_owned())
            });
        entry.is_some()
    })
    .await;
    entry.expect("it was waited for")
}

/// Applies the acquire of an owner that has ended, as a request does that was under way all the time.
fn arrive_late(server: &RedisServer, entry: &str) {
    let mut acquire = ACQUIRE.prepare_invoke();
    acquire.key(LOCK).key(FENCE).key(QUEUE);
    acquire.arg(entry).arg(TTL.as_millis() as u64);
    let answer: redis::Value = acquire.invoke(&mut server.connection()).unwrap();
    // Anything else is a place in the queue.
    assert!(matches!(answer, redis::Value::BulkString(_)), "{answer:?}");
}

/// An acquire goes unanswered on a connection that is then replaced; the caller gives up, and the
/// owner is ended over the new connection. The acquire may still arrive, and must not keep the
/// lock for its whole ttl.
#[tokio::test]
async fn a_late_acquire_of_an_ended_owner_is_undone() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.command_timeout(ms(150)).build().unwrap();
    // Connected, with more than one attempt.
    cycle(&client).await;
    let mut monitor = server.monitor();

    proxy.black_hole();
    let wait = ms(700);
    let error = client.lock(KEY).wait(wait).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable);
    proxy.kill_connections();
    proxy.heal();

    let entry = ended(&mut monitor).await;
    for round in 1..=3 {
        arrive_late(&server, &entry);
        // The owner is ended twice a second; without that the lock would stay for a minute.
        let limit = ms(5_000);
        eventually(&format!("end of late acquire {round}"), limit, async || {
            !exists(&mut server.connection(), LOCK)
        })
        .await;
    }
}

/// An owner whose commands were all answered is not ended again: nothing of it can arrive.
#[tokio::test]
async fn an_owner_that_ended_in_good_order_is_left_alone() {
    let server = RedisServer::start();
    let client = LockClient::connect(&server.url()).await.unwrap();
    cycle(&client).await;
    let mut monitor = server.monitor();
    tokio::time::sleep(ms(1_500)).await;
    assert_eq!(monitor.take(), []);
}

/// An owner whose caller had been dropped was ended again for 10 s, however long its ttl was: an
/// acquire that arrived later than that kept the lock for nobody.
#[tokio::test]
async fn an_owner_is_ended_again_for_as_long_as_its_ttl() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.command_timeout(ms(150)).build().unwrap();
    // Connected, with more than one attempt.
    let warm = client.lock("warm").wait(LONG).acquire().await.unwrap();
    warm.release().await.unwrap();
    let mut monitor = server.monitor();

    let first = proxy.accepted();
    proxy.black_hole();
    let acquiring = tokio::spawn(client.lock(KEY).ttl(TTL).wait(LONG).acquire());
    eventually("second connection", LONG, async || proxy.accepted() > first).await;
    acquiring.abort();
    assert!(acquiring.await.unwrap_err().is_cancelled());
    // What was sent on the first connection may be under way for ever, for all that is known.
    proxy.kill_connections();
    proxy.heal();

    let entry = ended(&mut monitor).await;
    tokio::time::sleep(ms(11_000)).await;
    arrive_late(&server, &entry);
    let mut connection = server.connection();
    // It is ended twice a second, where the machine gets to it. Its ttl is a minute.
    eventually("end of the late acquire", ms(12_000), async || {
        !exists(&mut connection, LOCK)
    })
    .await;
}

/// The last end of an owner is sent when nothing of it can be under way any more. It was the one
/// whose answer came by then; whatever arrived behind it, while a slow network brought that answer
/// or this process was stopped, kept the lock for nobody.
#[tokio::test]
async fn an_owner_is_ended_once_more_after_an_answer_that_took_too_long() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.command_timeout(LONG).connect().await.unwrap();
    let mut monitor = server.monitor();

    // The acquire that is cut may be under way for ever, for all that is known; the next one takes
    // the lock, and is released.
    proxy.cut_next_request(LOCK);
    let lock = client.lock(KEY).ttl(ms(1_000)).wait(LONG);
    lock.acquire().await.unwrap().release().await.unwrap();
    assert_eq!(proxy.cuts(), 1);
    let entry = ended(&mut monitor).await;

    // Longer than an owner of so short a ttl is ended again.
    proxy.replies(Mode::Delay(ms(11_000)));
    assert_eq!(ended(&mut monitor).await, entry);
    arrive_late(&server, &entry);
    let mut connection = server.connection();
    eventually("end of the late acquire", 2 * LONG, async || {
        !exists(&mut connection, LOCK)
    })
    .await;
}

#[tokio::test]
async fn an_acquire_that_arrives_after_its_own_end_is_ended_again() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.command_timeout(ms(150)).build().unwrap();
    cycle(&client).await;

    // Both commands of the attempt are swallowed, each by a connection of its own; the bytes of
    // both come out later, when the client has given them up.
    proxy.black_hole();
    for _ in 0..3 {
        let attempt = client.lock(KEY).wait(Duration::ZERO).acquire().await;
        assert!(attempt.unwrap_err().is_unavailable());
    }
    tokio::time::sleep(ms(200)).await;
    proxy.heal();
    // Whatever arrives in whatever order, nobody holds the lock in the end.
    nothing_is_left(&mut connection, ms(5_000)).await;
    cycle(&client).await;
}
