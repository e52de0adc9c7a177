//! Acquires that arrive after their owner has ended.

use std::time::Duration;

use harness::{
    ACQUIRE, FENCE, KEY, LOCK, LONG, Mode, Monitor, QUEUE, RedisServer, cycle, eventually, failed,
    is_free, ms, patient, server_and_proxy,
};
use lock_runtime::LockErrorKind;

/// Longer than the client repeats the `end` of an owner with the shortest ttl.
const TTL: Duration = Duration::from_secs(60);

/// The queue entry in the first recorded `end`.
async fn ended(monitor: &mut Monitor) -> String {
    let mut entry = None;
    eventually("end of the owner", LONG, async || {
        let commands = monitor.take().into_iter();
        entry = commands
            .filter(|command| command.text.contains(LOCK))
            .find_map(|command| {
                // EVALSHA sha 3 lock fence queue entry: an acquire has a ttl as well.
                let words = command.words();
                (words.len() == 7).then(|| words[6].to_owned())
            });
        entry.is_some()
    })
    .await;
    entry.expect("it was waited for")
}

/// Applies the acquire of an owner that has ended, as if the request had been delayed by the network.
fn arrive_late(server: &RedisServer, entry: &str) {
    let mut acquire = ACQUIRE.prepare_invoke();
    acquire.key(LOCK).key(FENCE).key(QUEUE);
    acquire.arg(entry).arg(TTL.as_millis() as u64);
    let answer: redis::Value = acquire.invoke(&mut server.connection()).unwrap();
    // Any other answer is a place in the queue.
    assert!(matches!(answer, redis::Value::BulkString(_)), "{answer:?}");
}

/// An owner whose commands were all answered is not ended again: no command of it can arrive.
#[tokio::test]
async fn an_owner_that_ended_normally_is_not_ended_again() {
    let server = RedisServer::start();
    let client = patient(server.url()).connect().await.unwrap();
    cycle(&client).await;
    let mut monitor = server.monitor();
    tokio::time::sleep(ms(1_500)).await;
    assert_eq!(monitor.take(), []);
}

/// An acquire goes unanswered on a connection that is then replaced. Its caller gives up or is dropped, and the owner
/// is ended over the new connection. The acquire may still arrive, and must not leave the lock taken without a holder.
/// The client used to repeat the `end` for 10 s, however long the ttl was.
#[tokio::test]
async fn an_owner_is_ended_again_for_as_long_as_its_ttl() {
    let [gives_up, is_dropped] = [false, true].map(|is_dropped| async move {
        let (server, proxy) = server_and_proxy();
        let builder = patient(proxy.url());
        let client = builder.command_timeout(ms(150)).build().unwrap();
        // Connected, with more than one attempt.
        let warm = client.lock("warm").wait(LONG).acquire().await.unwrap();
        warm.release().await.unwrap();
        let mut monitor = server.monitor();

        let first = proxy.accepted();
        proxy.black_hole();
        let wait = if is_dropped { LONG } else { ms(700) };
        let acquiring = tokio::spawn(client.lock(KEY).ttl(TTL).wait(wait).acquire());
        eventually("second connection", LONG, async || proxy.accepted() > first).await;
        if is_dropped {
            acquiring.abort();
            assert!(acquiring.await.unwrap_err().is_cancelled());
        } else {
            failed(acquiring.await.unwrap(), LockErrorKind::Unavailable);
        }
        // The client cannot know whether the command on the first connection was lost or is delayed.
        proxy.kill_connections();
        proxy.heal();

        let entry = ended(&mut monitor).await;
        for time in [ms(0), ms(0), ms(11_000)] {
            tokio::time::sleep(time).await;
            arrive_late(&server, &entry);
            // The owner is ended about twice a second. Its ttl is a minute.
            let mut connection = server.connection();
            is_free(&mut connection, ms(12_000)).await;
        }
    });
    tokio::join!(gives_up, is_dropped);
}

/// The last `end` of an owner is sent once none of its commands can still arrive. The client used to stop at an `end`
/// that was merely answered by then. A command that arrived after it, during a slow answer or while this process was
/// stopped, left the lock taken without a holder.
#[tokio::test]
async fn an_owner_is_ended_once_more_after_an_answer_that_took_too_long() {
    let (server, proxy) = server_and_proxy();
    let builder = patient(proxy.url());
    let client = builder.connect().await.unwrap();
    // Otherwise the first request would be the connection's trial.
    let warm = client.lock("warm").wait(LONG).acquire().await.unwrap();
    warm.release().await.unwrap();
    let mut monitor = server.monitor();

    // The client cannot know whether the acquire that is cut was lost or is delayed. The next one takes
    // the lock, and is released.
    proxy.cut_next_request(LOCK);
    let lock = client.lock(KEY).ttl(ms(5_000)).wait(LONG);
    lock.acquire().await.unwrap().release().await.unwrap();
    assert_eq!(proxy.cuts(), 1);
    let entry = ended(&mut monitor).await;

    // Longer than the client repeats the `end` of an owner with so short a ttl.
    proxy.replies(Mode::Delay(ms(11_000)));
    assert_eq!(ended(&mut monitor).await, entry);
    arrive_late(&server, &entry);
    let mut connection = server.connection();
    is_free(&mut connection, 2 * LONG).await;
}
