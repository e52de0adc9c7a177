//! Locks that are deleted or overwritten on the server.

use std::future::pending;
use std::time::Duration;

use harness::{LOCK, RedisServer, eventually};
use lock_runtime::LockClient;
use tokio::time::timeout;

use super::store::{Redis, Store};
use super::tools::{KEY, LONG, hold, ms};

async fn start() -> (RedisServer, LockClient, redis::aio::MultiplexedConnection) {
    let store = Redis::open();
    let (client, connection) = (store.client(), store.0.async_connection().await);
    (store.0, client, connection)
}

async fn command<T: redis::FromRedisValue>(
    connection: &mut redis::aio::MultiplexedConnection,
    words: &[&str],
) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    let answer = command.query_async(connection).await;
    answer.expect("the server knows this command")
}

#[tokio::test]
async fn a_deleted_lock_is_found_lost_by_its_release() {
    let (_server, client, mut connection) = start().await;
    let guard = hold(&client).await;
    let _: i64 = command(&mut connection, &["DEL", LOCK]).await;
    assert!(guard.is_valid(), "the server was not asked yet");
    let error = guard.release().await.unwrap_err();
    assert!(error.is_lost(), "{error}");
}

#[tokio::test]
async fn a_lock_taken_by_another_client_is_not_released() {
    let (_server, client, mut connection) = start().await;
    for how in 0..3 {
        let guard = hold(&client).await;
        let _: () = command(&mut connection, &["SET", LOCK, "theirs"]).await;
        match how {
            0 => assert!(guard.release().await.unwrap_err().is_lost()),
            1 => assert!(guard.renew().await.unwrap_err().is_lost()),
            _ => drop(guard),
        }
        // This command is answered after all earlier ones.
        assert!(client.lock(KEY).try_acquire().await.unwrap().is_none());
        let value: String = command(&mut connection, &["GET", LOCK]).await;
        assert_eq!(value, "theirs");
        let expires: i64 = command(&mut connection, &["PTTL", LOCK]).await;
        assert_eq!(expires, -1, "it was given an expiry");
        let _: i64 = command(&mut connection, &["DEL", LOCK]).await;
    }
}

#[tokio::test]
async fn a_stolen_lock_ends_the_body_at_the_next_renewal() {
    let (_server, client, mut connection) = start().await;
    let steal = async |_: &_| {
        let _: () = command(&mut connection, &["SET", LOCK, "theirs"]).await;
        pending::<()>().await;
    };
    let run = client.lock(KEY).ttl(ms(300)).run(steal);
    let error = timeout(LONG, run).await.unwrap().unwrap_err();
    assert!(error.is_lost(), "{error}");
}

#[tokio::test]
async fn a_body_that_ended_on_a_stolen_lock_has_no_result() {
    let (_server, client, mut connection) = start().await;
    let steal = async |_: &_| {
        let _: i64 = command(&mut connection, &["DEL", LOCK]).await;
        "the result"
    };
    let error = client.lock(KEY).run(steal).await.unwrap_err();
    assert!(error.is_lost(), "{error}");
}

#[tokio::test]
async fn a_foreign_holder_excludes_callers_until_its_release() {
    let (_server, client, mut connection) = start().await;
    let _: () = command(
        &mut connection,
        &["SET", LOCK, "theirs", "NX", "PX", "60000"],
    )
    .await;
    let error = client.lock(KEY).wait(Duration::ZERO).acquire().await;
    let error = error.unwrap_err();
    assert!(error.is_busy() && error.holder().is_some(), "{error}");

    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    let queue = "{lock:order:42}:w";
    eventually("entry in the queue", LONG, async || {
        let queued: i64 = command(&mut connection, &["ZCARD", queue]).await;
        queued > 0
    })
    .await;
    let _: i64 = command(&mut connection, &["DEL", LOCK]).await;
    let guard = timeout(ms(5_000), waiting).await.expect("it polls");
    guard.unwrap().unwrap().release().await.unwrap();
    let left: i64 = command(&mut connection, &["EXISTS", LOCK, queue]).await;
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_guard_kept_beyond_a_shutdown_is_not_renewed() {
    let store = Redis::open();
    let builder = store.builder().shutdown_grace(ms(20));
    let client = builder.command_timeout(ms(100)).build().unwrap();
    let mut connection = store.0.async_connection().await;
    let guard = client.lock(KEY).ttl(ms(300)).acquire().await.unwrap();
    client.shutdown().await;
    eventually("end of the lease", ms(5_000), async || {
        let left: i64 = command(&mut connection, &["EXISTS", LOCK]).await;
        left == 0
    })
    .await;
    assert!(guard.release().await.unwrap_err().is_lost());
}
