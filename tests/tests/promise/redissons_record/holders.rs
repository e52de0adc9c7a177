//! Holders of every kind, as a client with Redisson's record sees them.

use harness::{LONG, ask, eventually, failed, figure, ms, patient, served};
use lock_runtime::{LockErrorKind, LockGuard};
use redis::Connection;

use super::{KEY, client, start};

#[track_caller]
fn fields(connection: &mut Connection) -> Vec<(String, String)> {
    ask(connection, &["HGETALL", KEY])
}

#[tokio::test]
async fn owners_of_one_client_have_its_uuid_and_numbers_of_their_own() {
    let (server, mut admin) = start();
    let (one, other) = (client(&server), client(&server));
    let mut owner = async |client: &lock_runtime::LockClient| {
        let guard = client.lock(KEY).acquire().await.unwrap();
        let field = fields(&mut admin)[0].0.clone();
        guard.release().await.unwrap();
        field
    };
    let [first, second, third] = [owner(&one).await, owner(&one).await, owner(&other).await];
    let uuid = |field: &str| field.split(':').next().unwrap().to_owned();
    assert_ne!(first, second);
    assert_eq!(uuid(&first), uuid(&second));
    assert_ne!(uuid(&first), uuid(&third));
}

#[tokio::test]
async fn string_excludes_and_is_polled() {
    let (server, mut admin) = start();
    ask::<()>(&mut admin, &["SET", KEY, "foreign"]);
    let client = client(&server);
    let error = failed(client.lock(KEY).wait(ms(50)).await, LockErrorKind::Busy);
    let eternal = "a client that is not lock-runtime, whose record never expires";
    assert_eq!(error.holder(), Some(eternal));
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    // No message announces that a string was deleted.
    eventually("poll", LONG, async || {
        figure(&mut admin, "cmdstat_subscribe:calls") > 0
    })
    .await;
    ask::<i64>(&mut admin, &["DEL", KEY]);
    served(waiting).await.release().await.unwrap();
}

#[tokio::test]
async fn native_client_with_the_same_name_is_excluded_and_named() {
    let (server, _admin) = start();
    server.allow(&["~{order:*", "&lock:*", "+@all"]);
    let native = patient(server.url());
    let native = native.prefix("").label("native").build().unwrap();
    let guard = native.lock(KEY).acquire().await.unwrap();
    let error = client(&server).lock(KEY).wait(ms(50)).await.unwrap_err();
    assert!(
        error.is_busy() && error.holder().unwrap().contains("native"),
        "{error}"
    );
    guard.release().await.unwrap();
    let guard: LockGuard = client(&server).lock(KEY).acquire().await.unwrap();
    failed(native.lock(KEY).wait(ms(50)).await, LockErrorKind::Rejected);
    guard.release().await.unwrap();
}
