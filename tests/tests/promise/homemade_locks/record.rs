//! The lock of one command: a string that is not overwritten, and that expires by itself.

use harness::ms;
use lock_runtime::LockClient;

use super::{KEY, RedisServer, ask, hold};

/// In the database of the URL, at the client's prefix and the key.
#[tokio::test]
async fn lock_is_a_string_with_an_end_where_the_client_says() {
    let server = RedisServer::start();
    server.allow(&["~*", "+select"]);
    let mut connection = server.connection();
    for (database, prefix, name) in [
        ("0", "lock:", "lock:order:42"),
        ("0", "", "order:42"),
        ("0", "shop:mutex:", "shop:mutex:order:42"),
        ("3", "lock:", "lock:order:42"),
    ] {
        let url = format!("{}/{database}", server.url());
        let client = LockClient::builder().url(url).prefix(prefix);
        let guard = hold(&client.ttl(ms(20_000)).build().unwrap()).await;
        assert_eq!(guard.key(), KEY);
        ask::<()>(&mut connection, &["SELECT", database]);
        assert_eq!(ask::<String>(&mut connection, &["TYPE", name]), "string");
        let rest: i64 = ask(&mut connection, &["PTTL", name]);
        assert!((1..=20_000).contains(&rest), "{rest}");
        guard.release().await.unwrap();
        assert_eq!(ask::<i64>(&mut connection, &["EXISTS", name]), 0);
    }
}
