//! Contention is not an outage: each kind of failure has its own kind of error.

use harness::{RedisServer, failed, is_awaited, patient, server_and_connection};
use lock_runtime::LockErrorKind::{self, Busy, Lost, Rejected, Unavailable};

use super::{KEY, LOCK, ask, client, hold, ms};

#[tokio::test]
async fn line_8_contention_refusal_loss_and_outage_have_distinct_kinds() {
    let mut server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let mut connection = server.connection();
    let attempt = async || -> LockErrorKind {
        let acquire = other.lock(KEY).wait(ms(50)).acquire();
        acquire.await.unwrap_err().kind()
    };

    let guard = hold(&one).await;
    assert_eq!(attempt().await, Busy);
    let _: i64 = ask(&mut connection, &["DEL", LOCK]);
    assert_eq!(guard.release().await.unwrap_err().kind(), Lost);

    let _: i64 = ask(&mut connection, &["LPUSH", LOCK, "a list"]);
    assert_eq!(attempt().await, Rejected);
    assert_eq!(ask::<i64>(&mut connection, &["LLEN", LOCK]), 1);

    server.kill9();
    assert_eq!(attempt().await, Unavailable);
    // A single attempt does not hide an outage.
    let tried = other.lock(KEY).try_acquire().await;
    assert_eq!(tried.unwrap_err().kind(), Unavailable);
}

#[tokio::test]
async fn line_8_a_frozen_server_is_an_outage_even_if_the_lock_was_busy() {
    let (server, mut connection) = server_and_connection();
    let hasty = patient(server.url());
    let hasty = hasty.command_timeout(ms(300)).build().unwrap();
    let _guard = hold(&client(server.url())).await;
    let waiting = tokio::spawn(hasty.lock(KEY).wait(ms(1_500)).acquire());
    is_awaited(&mut connection).await;
    server.pause();
    failed(waiting.await.unwrap(), Unavailable);
    server.resume();
}
