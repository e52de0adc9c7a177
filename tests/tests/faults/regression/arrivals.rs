//! Commands that arrive when their owner has ended.

use std::time::Duration;

use harness::{Mode, Monitor, Proxy, RedisServer, eventually};
use lock_runtime::LockClient;

use super::tools::{FENCE, KEY, LOCK, LONG, QUEUE, exists, ms};

const TTL: Duration = Duration::from_secs(60);

/// The owner and label that an `end` was sent for.
async fn ended(monitor: &mut Monitor) -> String {
    let mut ticket = None;
    eventually("end of the owner", LONG, async || {
        let commands = monitor.take().into_iter();
        ticket = commands
            .filter(|command| command.text.contains(LOCK))
            .find_map(|command| {
                // EVALSHA sha 3 lock fence queue ticket: an acquire has a ttl, too.
                let words: Vec<&str> = command.text.split('"').skip(1).step_by(2).collect();
                (words.len() == 7).then(|| words[6].to_owned())
            });
        ticket.is_some()
    })
    .await;
    ticket.expect("it was waited for")
}

/// Applies the acquire of an owner that has left.
fn arrive_late(server: &RedisServer, ticket: &str) {
    let script = concat!(
        include_str!("../../../../lock-runtime/src/backend/redis/lua/take.lua"),
        include_str!("../../../../lock-runtime/src/backend/redis/lua/grant.lua"),
        include_str!("../../../../lock-runtime/src/backend/redis/lua/acquire.lua"),
    );
    let answer: redis::Value = redis::Script::new(script)
        .key(LOCK)
        .key(FENCE)
        .key(QUEUE)
        .arg(ticket)
        .arg(TTL.as_millis() as u64)
        .invoke(&mut server.connection())
        .unwrap();
    // Anything else is a place in the queue.
    assert!(matches!(answer, redis::Value::BulkString(_)), "{answer:?}");
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

    let ticket = ended(&mut monitor).await;
    tokio::time::sleep(ms(11_000)).await;
    arrive_late(&server, &ticket);
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
    let ticket = ended(&mut monitor).await;

    // Longer than an owner of so short a ttl is ended again.
    proxy.replies(Mode::Delay(ms(11_000)));
    assert_eq!(ended(&mut monitor).await, ticket);
    arrive_late(&server, &ticket);
    let mut connection = server.connection();
    eventually("end of the late acquire", 2 * LONG, async || {
        !exists(&mut connection, LOCK)
    })
    .await;
}
