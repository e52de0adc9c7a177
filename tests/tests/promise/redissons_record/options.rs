//! Options that do not fit Redisson's record are refused before a command is sent.

use harness::ms;
use lock_runtime::{Acquire, LockClient, LockError, LockErrorKind};

use super::{KEY, client, start};

#[track_caller]
fn assert_refused(error: &LockError, words: &str) {
    assert_eq!(error.kind(), LockErrorKind::InvalidOptions, "{error}");
    let expected = format!("Redisson's record has no {words}: use another client");
    assert!(error.to_string().contains(&expected), "{error}");
}

type SetOption = fn(Acquire) -> Acquire;

/// Each option, and its name in the error.
const REFUSED: &[(SetOption, &str)] = &[
    (Acquire::read, "readers, writers and permits"),
    (Acquire::write, "readers, writers and permits"),
    (|call| call.permits(3), "readers, writers and permits"),
    (|call| call.min_hold(ms(50)), "minimum hold"),
    (|call| call.retain(ms(50)), "retained leases"),
];

async fn refuses(client: &LockClient) {
    for (option, words) in REFUSED {
        let error = option(client.lock(KEY)).acquire().await.unwrap_err();
        assert_refused(&error, words);
        assert_eq!(error.key(), Some(KEY));
        let call = option(client.lock(KEY));
        let blocking = tokio::task::spawn_blocking(|| call.acquire_blocking());
        assert_refused(&blocking.await.unwrap().unwrap_err(), words);
    }
    let error = client.lock_all(["a", "b"]).acquire().await.unwrap_err();
    assert_refused(&error, "locks of several keys");
    // A value that changes nothing is not refused.
    let call = client.lock(KEY).retain(ms(0)).min_hold(ms(0));
    let guard = call.acquire().await.unwrap();
    assert_refused(&guard.downgrade().await.unwrap_err(), "readers");
}

#[tokio::test]
async fn option_that_the_record_lacks_is_refused() {
    let (server, _admin) = start();
    let mut monitor = server.monitor();
    let client = client(&server);
    refuses(&client).await;
    let commands = monitor.take();
    let scripts = commands.iter().filter(|c| c.name.starts_with("EVAL"));
    let sent: Vec<_> = scripts.map(|c| &c.text).collect();
    // The connection was tried out; one lock was acquired, with the script's source since the server did not know it, and
    // released.
    assert!(sent.len() <= 6, "{sent:?}");
}
