//! The attribute on web handlers and on cached functions, in both orders.
//!
//! Each handler answers whether its lock is held, as seen from another thread; afterwards the lock
//! is free. A handler whose lock is busy answers with the failure.

mod actix;
mod axum;
mod caches;
mod rocket;

use std::sync::OnceLock;
use std::time::Duration;

use lock_runtime::{LockClient, LockGuard};

/// The answer of a handler.
const HELD: &str = "held";

/// The installed client, which never waits.
fn locks() -> &'static LockClient {
    static CLIENT: OnceLock<LockClient> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let builder = LockClient::builder().url("memory://");
        let client = builder.wait(Duration::ZERO).build().expect("it is valid");
        client.install().expect("no other test installs one");
        client
    })
}

/// A lock of another client.
fn elsewhere(key: &str) -> LockGuard {
    locks().lock(key).acquire_blocking().expect("it is free")
}

/// [`HELD`] if the lock is held.
fn state(key: &str) -> &'static str {
    let ask = locks().lock(key);
    let asked = std::thread::spawn(move || match ask.try_acquire_blocking() {
        Ok(None) => HELD,
        Ok(Some(guard)) => guard.release_blocking().map_or("lost", |()| "free"),
        Err(_) => "unknown",
    });
    asked.join().expect("asking does not panic")
}
