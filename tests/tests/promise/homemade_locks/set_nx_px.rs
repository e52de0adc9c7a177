//! The lock of one command: a string that is not overwritten, that expires by itself and that only its
//! author deletes. The crate's record is exactly this.

use super::by_hand::ByHand;
use super::{LOCK, LockClient, RedisServer, ask, client, hold, ms, pttl, value};

#[tokio::test]
async fn the_lock_is_a_string_that_ends_by_itself() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let guard = client(server.url()).lock(super::KEY).ttl(ms(20_000));
    let guard = guard.acquire().await.unwrap();
    assert_eq!(ask::<String>(&mut connection, &["TYPE", LOCK]), "string");
    assert!((1..=20_000).contains(&pttl(&mut connection)));
    guard.release().await.unwrap();
    assert_eq!(value(&mut connection), None, "not emptied, but gone");
}

#[tokio::test]
async fn the_record_is_new_for_each_grant() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let mut values = Vec::new();
    for _ in 0..3 {
        let guard = hold(&client).await;
        values.extend(value(&mut connection));
        guard.release().await.unwrap();
    }
    values.sort();
    values.dedup_by_key(|value| value[..22].to_owned());
    assert_eq!(values.len(), 3, "an owner was used twice: {values:?}");
}

#[tokio::test]
async fn a_client_with_another_value_deletes_nothing() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut other = ByHand::new(&server, "another-program");
    let guard = hold(&client).await;
    assert!(!other.try_lock(1_000) && !other.unlock());
    guard.release().await.unwrap();

    assert!(other.try_lock(20_000));
    let attempt = client.lock(super::KEY).try_acquire().await.unwrap();
    assert!(attempt.is_none(), "its record is a lock to us");
    assert!(other.unlock());
}

#[tokio::test]
async fn a_prefix_gives_the_key_the_name_that_another_program_uses() {
    let server = RedisServer::start();
    server.allow(&["~*"]);
    let mut connection = server.connection();
    for (prefix, name) in [("", "order:42"), ("shop:mutex:", "shop:mutex:order:42")] {
        let client = LockClient::builder().url(server.url()).prefix(prefix);
        let guard = hold(&client.build().unwrap()).await;
        assert_eq!(ask::<String>(&mut connection, &["TYPE", name]), "string");
        guard.release().await.unwrap();
    }
}
