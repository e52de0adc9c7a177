//! Every kind of failure, reached through the public interface, and its message. The fault table has what a server
//! refuses.

mod installed;
mod kinds;
mod secrets;
mod server_words;
mod unavailable;

use std::time::Duration;

use harness::{KEY, LOCK, LONG, RedisServer, ms, patient};
use lock_runtime::{LockClient, LockError};

/// A client with a label.
fn client(url: impl Into<String>) -> LockClient {
    let builder = patient(url).label("api-7@here");
    builder.build().expect("the settings are valid")
}

/// The error of an attempt to lock.
async fn refusal(client: &LockClient, wait: Duration) -> LockError {
    let acquire = client.lock(KEY).wait(wait).acquire();
    acquire.await.expect_err("the attempt fails")
}

/// Runs a command that must succeed.
#[track_caller]
fn ask<T: redis::FromRedisValue>(server: &RedisServer, words: &[&str]) -> T {
    harness::ask(&mut server.connection(), words)
}

/// Asserts that the message is a phrase: it begins with its subject, in lower case, and ends without a full stop, so that
/// it fits into a sentence.
#[track_caller]
fn assert_reads(error: &LockError) {
    let text = error.to_string();
    let first = text.chars().next().expect("it has a text");
    assert!(first.is_lowercase(), "{text}");
    assert!(!text.ends_with(['.', ' ', ':', ',']), "{text}");
    assert!(!text.contains("  ") && !text.contains('\n'), "{text}");
    assert!(!text.contains("::") && !text.contains("Some("), "{text}");
    if let Some(key) = error.key().filter(|key| !key.is_empty()) {
        assert!(text.starts_with(&format!("lock `{key}` ")), "{text}");
    }
    assert!(format!("{error:?}").contains(&format!("{:?}", error.kind())));
    let boxed: Box<dyn std::error::Error + Send + Sync> = text.clone().into();
    assert_eq!(boxed.to_string(), text);
}
