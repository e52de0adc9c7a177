//! Holders of every kind, as a client with Redisson's record sees them.

use std::time::Duration;

use harness::{LONG, ask, eventually, ms, soon};
use lock_runtime::{LockErrorKind, LockGuard};
use redis::Connection;

use super::{JAVA, KEY, client, start};

#[track_caller]
fn fields(connection: &mut Connection) -> Vec<(String, String)> {
    ask(connection, &["HGETALL", KEY])
}

#[tokio::test]
async fn lock_is_a_hash_of_its_owner_at_the_raw_name() {
    let (server, mut admin) = start();
    let guard = client(&server).lock(KEY).acquire().await.unwrap();
    let [(field, count)] = &fields(&mut admin)[..] else {
        panic!("one field")
    };
    assert_eq!(count, "1");
    let (uuid, number) = field.split_once(':').unwrap();
    assert_eq!((uuid.len(), uuid.matches('-').count()), (36, 4));
    assert!(number.parse::<i64>().is_ok(), "{number}");
    assert_eq!(ask::<Vec<String>>(&mut admin, &["KEYS", "*"]), [KEY]);
    guard.release().await.unwrap();
    assert_eq!(ask::<i64>(&mut admin, &["DBSIZE"]), 0);
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
async fn busy_error_names_a_redisson_client_by_its_field() {
    let (server, mut admin) = start();
    ask::<i64>(&mut admin, &["HSET", KEY, JAVA, "1"]);
    for wait in [Duration::ZERO, ms(50)] {
        let error = client(&server).lock(KEY).wait(wait).await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Busy);
        let holder = format!("a Redisson client {JAVA}, whose record never expires");
        assert_eq!(error.holder(), Some(&*holder), "{error}");
    }
}

#[tokio::test]
async fn busy_error_does_not_show_the_number_of_an_owner_of_this_crate() {
    let (server, mut admin) = start();
    let _guard = client(&server).lock(KEY).acquire().await.unwrap();
    let field = fields(&mut admin)[0].0.clone();
    let error = client(&server).lock(KEY).wait(ms(0)).await.unwrap_err();
    let (uuid, number) = field.split_once(':').unwrap();
    assert!(error.to_string().contains(uuid), "{error}");
    assert!(!error.to_string().contains(number), "{error}");
}

#[tokio::test]
async fn string_excludes_and_is_polled() {
    let (server, mut admin) = start();
    ask::<()>(&mut admin, &["SET", KEY, "foreign"]);
    let client = client(&server);
    let error = client.lock(KEY).wait(ms(50)).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Busy);
    let eternal = "a client that is not lock-runtime, whose record never expires";
    assert_eq!(error.holder(), Some(eternal));
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    // No message says that a string is deleted.
    eventually("poll", LONG, async || {
        let stats: String = ask(&mut admin, &["INFO", "commandstats"]);
        stats.matches("cmdstat_subscribe").count() > 0
    })
    .await;
    ask::<i64>(&mut admin, &["DEL", KEY]);
    let guard = soon(waiting).await.unwrap().unwrap();
    guard.release().await.unwrap();
}

#[tokio::test]
async fn client_with_the_native_record_on_one_name_is_excluded_and_named() {
    let (server, _admin) = start();
    server.allow(&["~{order:*", "&lock:*", "+@all"]);
    let native = lock_runtime::LockClient::builder().url(server.url());
    let native = native.prefix("").label("native").build().unwrap();
    let guard = native.lock(KEY).acquire().await.unwrap();
    let error = client(&server).lock(KEY).wait(ms(50)).await.unwrap_err();
    assert!(
        error.is_busy() && error.holder().unwrap().contains("native"),
        "{error}"
    );
    guard.release().await.unwrap();
    let guard: LockGuard = client(&server).lock(KEY).acquire().await.unwrap();
    let error = native.lock(KEY).wait(ms(50)).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn key_of_another_type_is_rejected() {
    let (server, mut admin) = start();
    ask::<i64>(&mut admin, &["LPUSH", KEY, "x"]);
    let error = client(&server).lock(KEY).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected);
    let words = "WRONGTYPE the key holds a list";
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(ask::<i64>(&mut admin, &["LLEN", KEY]), 1);
}

#[tokio::test]
async fn lock_that_another_owner_has_taken_is_lost_and_not_released() {
    let (server, mut admin) = start();
    let guard = client(&server).lock(KEY).acquire().await.unwrap();
    ask::<i64>(&mut admin, &["DEL", KEY]);
    ask::<i64>(&mut admin, &["HSET", KEY, JAVA, "1"]);
    assert!(guard.renew().await.unwrap_err().is_lost());
    soon(guard.lost()).await;
    assert!(guard.release().await.unwrap_err().is_lost());
    assert_eq!(fields(&mut admin), [(JAVA.to_owned(), "1".to_owned())]);
}

#[tokio::test]
async fn nested_call_enters_and_the_count_stays_one() {
    let (server, mut admin) = start();
    let client = client(&server);
    let inner = client.clone();
    let body = async |_: &LockGuard| {
        let nested = inner.lock(KEY).acquire().await.unwrap();
        assert_eq!(fields(&mut admin)[0].1, "1");
        nested.release().await.unwrap();
        assert_eq!(fields(&mut admin).len(), 1, "the outer call holds it");
    };
    client.lock(KEY).run(body).await.unwrap();
    assert!(fields(&mut server.connection()).is_empty());
}
