//! The lock of one command: a string that is not overwritten, and that expires by itself. Either side may hold it.

use std::time::Instant;

use harness::{QUEUE, nothing_is_left, patient, served, server_and_connection};

use super::{KEY, LOCK, LONG, ask, client, eventually, hold, ms};

/// In the database of the URL, under the client's prefix and the key.
#[tokio::test]
async fn lock_is_a_string_with_an_expiry_under_the_clients_prefix() {
    let (server, mut connection) = server_and_connection();
    server.allow(&["~*", "+select"]);
    for (database, prefix, name) in [
        ("0", "lock:", "lock:order:42"),
        ("0", "", "order:42"),
        ("0", "shop:mutex:", "shop:mutex:order:42"),
        ("3", "lock:", "lock:order:42"),
    ] {
        let url = format!("{}/{database}", server.url());
        let client = patient(url).prefix(prefix);
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

/// Another program holds the lock, and deletes it or lets it expire: no message announces that.
#[tokio::test]
async fn lock_of_another_program_excludes_callers_until_it_is_gone() {
    let (server, mut connection) = server_and_connection();
    let client = client(server.url());
    for deletes in [true, false] {
        let rest = if deletes { "60000" } else { "700" };
        ask::<()>(&mut connection, &["SET", LOCK, "theirs", "NX", "PX", rest]);
        let set = Instant::now();
        let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
        let attempt = client.lock(KEY).try_acquire().await.unwrap();
        assert!(attempt.is_none() || set.elapsed() > ms(700));
        eventually("entry in the queue", LONG, async || {
            ask::<i64>(&mut connection, &["ZCARD", QUEUE]) > 0 || !deletes
        })
        .await;
        if deletes {
            ask::<i64>(&mut connection, &["DEL", LOCK]);
        }
        let guard = served(waiting).await;
        assert!(deletes || set.elapsed() >= ms(690), "it was still held");
        guard.release().await.unwrap();
        nothing_is_left(&mut connection, LONG).await;
    }
}
