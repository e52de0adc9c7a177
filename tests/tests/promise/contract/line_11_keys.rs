//! Different arguments never share a key by accident.

use harness::RedisServer;
use lock_runtime::{LockClient, LockError, distributed_lock};

use super::{ask, client};

#[distributed_lock(key = "file:<tenant>/<path>", client = locks)]
async fn under(
    locks: &LockClient,
    server: &RedisServer,
    tenant: &str,
    path: &str,
) -> Result<String, LockError> {
    let keys: Vec<String> = ask(&mut server.connection(), &["KEYS", "lock:*"]);
    assert_eq!(keys.len(), 1, "{keys:?}");
    Ok(keys[0].clone())
}

#[tokio::test]
async fn line_11_values_are_escaped_so_that_no_two_calls_meet() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut seen = std::collections::HashSet::new();
    for (tenant, path) in [
        ("a", "b/c"),
        ("a/b", "c"),
        ("a%2Fb", "c"),
        ("a:b", "c"),
        ("a b", "c"),
        ("{a}", "c"),
        ("A", "b/c"),
        ("\u{e9}", "c"),
        ("e\u{301}", "c"),
    ] {
        let key = under(&client, &server, tenant, path).await.unwrap();
        assert!(key.starts_with("lock:file:"), "{key}");
        assert!(seen.insert(key), "{tenant:?} and {path:?} share a key");
    }
    let error = under(&client, &server, "", "c").await.unwrap_err();
    assert!(error.to_string().contains("tenant"), "{error}");
}
