//! A server that answers and refuses: the error is reported at once, and the command is not repeated.

use std::time::Instant;

use harness::{Proxy, RedisServer};
use lock_runtime::{LockClient, LockErrorKind};

use super::sentences::assert_reads;
use super::{KEY, LOCK, LONG, SLACK, ask, client, refusal};

/// How often a command was called or refused since the server started.
fn calls(server: &RedisServer, command: &str) -> u64 {
    let info: String = ask(server, &["INFO", "commandstats"]);
    let line = format!("cmdstat_{command}:");
    let Some(stats) = info.lines().find_map(|text| text.strip_prefix(&line)) else {
        return 0;
    };
    let figure = |name: &str| -> u64 {
        let value = stats
            .split(',')
            .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        value.map_or(0, |value| value.parse().expect("a number"))
    };
    figure("calls") + figure("rejected_calls")
}

fn scripts_run(server: &RedisServer) -> u64 {
    calls(server, "eval") + calls(server, "evalsha")
}

/// Asks with a long wait, and is refused at once with the server's own error code.
async fn refused_at_once(server: &RedisServer, client: &LockClient, code: &str) {
    let before = scripts_run(server);
    let started = Instant::now();
    let waiting: Vec<_> = (0..3)
        .map(|_| tokio::spawn(client.lock(KEY).wait(LONG).acquire()))
        .collect();
    for waiter in waiting {
        let error = waiter.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
        assert!(error.is_rejected());
        assert!(error.to_string().contains(code), "{error}");
        assert_reads(&error);
    }
    assert!(started.elapsed() < SLACK * 2, "{:?}", started.elapsed());
    // Each attempt sends one command, at worst followed by the whole script, and ends its owner.
    let commands = scripts_run(server) - before;
    assert!(commands <= 3 * 4, "{commands} commands");
}

#[tokio::test]
async fn a_key_of_another_type() {
    let server = RedisServer::start();
    let client = client(server.url());
    for name in [LOCK, "{lock:order:42}:f", "{lock:order:42}:w"] {
        let _: i64 = ask(&server, &["HSET", name, "field", "value"]);
        refused_at_once(&server, &client, "WRONGTYPE").await;
        let intact: String = ask(&server, &["HGET", name, "field"]);
        assert_eq!(intact, "value");
        let keys: i64 = ask(&server, &["DBSIZE"]);
        assert_eq!(keys, 1, "something was written");
        let _: i64 = ask(&server, &["DEL", name]);
    }
    drop(client.lock(KEY).acquire().await.unwrap());
}

#[tokio::test]
async fn a_server_out_of_memory() {
    let server = RedisServer::start();
    let client = client(server.url());
    let held = client.lock("order:41").acquire().await.unwrap();
    server.config_set("maxmemory", "1");
    refused_at_once(&server, &client, "OOM").await;
    // A held lock can still be renewed and released.
    held.renew().await.unwrap();
    held.release().await.unwrap();
    server.config_set("maxmemory", "0");
    drop(client.lock(KEY).acquire().await.unwrap());
}

#[tokio::test]
async fn a_user_without_permissions() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let url = proxy.url().replace("redis://", "redis://app:s3cret@");
    let all = ["resetkeys", "resetchannels", "nocommands", "on", ">s3cret"];
    for (allowed, missing) in [
        (
            &["~*", "&*", "+@all", "-evalsha", "-eval"][..],
            "no scripts",
        ),
        (&["~other:*", "&*", "+@all"], "another prefix"),
        (&["~*", "+@all"], "no channels"),
        (
            &["~*", "&*", "+@all", "-set"],
            "not all commands of the scripts",
        ),
    ] {
        let words = [&["ACL", "SETUSER", "app"][..], &all, allowed].concat();
        let _: () = ask(&server, &words);
        let connections = proxy.accepted();
        let error = refusal(&client(url.as_str()), LONG / 4).await;
        assert_eq!(error.kind(), LockErrorKind::Rejected, "{missing}: {error}");
        assert_reads(&error);
        assert!(proxy.accepted() - connections <= 2, "a storm: {missing}");
    }
}

#[tokio::test]
async fn a_wrong_password() {
    let server = RedisServer::start();
    server.config_set("requirepass", "right");
    let proxy = Proxy::start(server.port());
    for login in ["", ":wrong@", "app:wrong@"] {
        let url = proxy.url().replace("redis://", &format!("redis://{login}"));
        let connections = proxy.accepted();
        let started = Instant::now();
        let error = refusal(&client(url.as_str()), LONG).await;
        assert_eq!(error.kind(), LockErrorKind::Rejected, "{login}: {error}");
        assert!(started.elapsed() < SLACK * 2);
        assert_reads(&error);
        assert!(!error.to_string().contains("wrong@"), "{error}");
        let error = LockClient::connect(&url).await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Rejected, "{login}: {error}");
        assert!(proxy.accepted() - connections <= 3, "a storm");
    }
}
