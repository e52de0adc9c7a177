//! The server's own words reach whoever reads an error, an event or the page about them. `lock-runtime/cli` has the same table
//! for `lockctl`.

use std::future::pending;

use harness::{KEY, RIGHTS, RedisServer, ServerState, eventually, ms, patient};
use lock_runtime::{LockClient, LockError, distributed_lock};

use super::{LONG, ask, assert_reads};
use crate::journal::told;

const PAGE: &str = include_str!("../../../../lock-runtime/src/docs/troubleshooting.md");

#[tokio::test]
async fn call_repeats_what_the_server_says_and_the_page_explains_it() {
    for state in ServerState::ALL {
        let refusing = state.begin();
        let client = patient(&refusing.url).build().unwrap();
        let call = client.lock(KEY).wait(ms(50)).fenced().acquire().await;
        let error = call.expect_err("it is refused");
        assert_reads(&error);
        assert_has(state, &error.to_string());
    }
    let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| ")).collect();
    for words in ServerState::ALL.iter().flat_map(|state| state.words()) {
        // The name of the user is another one.
        let words = words.replace("app", "…").replace("'time'", "'…'");
        let is_explained =
            |row: &&&str| row.split(" | ").next().unwrap_or_default().contains(&words);
        assert!(
            rows.iter().any(|row| is_explained(&row)),
            "no row has `{words}`"
        );
    }
}

#[track_caller]
fn assert_has(state: ServerState, text: &str) {
    let has = state.words().iter().any(|words| text.contains(words));
    assert!(has, "{state:?}: {text}");
}

#[distributed_lock(key = "words:<id>", ttl = "600ms", client = locks)]
async fn held(locks: &LockClient, id: u8) -> Result<(), LockError> {
    pending().await
}

/// A right that is taken away while the lock is held, outside of scripts and in one.
#[tokio::test]
async fn event_of_a_refused_renewal_repeats_what_the_server_says() {
    crate::record();
    for (id, (right, words)) in (0..).zip([
        (
            "-evalsha",
            ["run the 'evalsha' command", "run the 'evalsha' command"],
        ),
        (
            "-pexpire",
            [
                "user executing the script can't run this command",
                "run the 'pexpire' command",
            ],
        ),
    ]) {
        let server = RedisServer::start();
        let locks = patient(server.user("app", "s3cret", RIGHTS))
            .build()
            .unwrap();
        let holding = tokio::spawn(async move { held(&locks, id).await });
        eventually("lock", LONG, async || {
            ask::<i64>(&server, &["EXISTS", &format!("lock:words:{id}")]) == 1
        })
        .await;
        ask::<()>(&server, &["ACL", "SETUSER", "app", right]);
        eventually("event", LONG, async || {
            let failed = told("renewal_failed", "words:<id>");
            failed.iter().any(|event| {
                let fault = event.field("fault");
                words.iter().any(|words| fault.contains(words))
            })
        })
        .await;
        holding.abort();
    }
}
