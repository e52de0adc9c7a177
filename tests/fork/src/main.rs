//! `lock-fork URL`: takes a lock, forks, and says what parent and child can do then.
//!
//! Each line is `child WHAT: OUTCOME` or `parent WHAT: OUTCOME`.

mod fork;

use std::env;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use fork::Forked;
use lock_runtime::{LockClient, LockError, LockGuard};

fn main() {
    let url = env::args().nth(1).expect("usage: lock-fork URL");
    let client = LockClient::builder().url(&url).build();
    let client = client.expect("the URL is well formed");
    let ours = client.lock("order:42").ttl(Duration::from_secs(1));
    let guard = ours.acquire_blocking().expect("the lock is free");
    match fork::fork().expect("there is memory for a child") {
        Forked::Child => child(&client, guard, &url),
        Forked::Parent { child } => parent(guard, child),
    }
}

/// Everything that reaches for a server, and what only looks as if it did not.
fn child(client: &LockClient, guard: LockGuard, url: &str) {
    let acquire = |key: &str| client.lock(key).wait(Duration::from_secs(5));
    say("child takes a lock", acquire("order:43").acquire_blocking());
    say(
        "child tries a lock",
        acquire("order:43").try_acquire_blocking(),
    );
    say(
        "child takes its parent's",
        acquire("order:42").acquire_blocking(),
    );
    let another = LockClient::builder().url(url).build();
    say(
        "child makes a client",
        another.and_then(|client| client.lock("order:43").acquire_blocking()),
    );
    say(
        "child makes a store in memory",
        LockClient::memory().lock("order:43").acquire_blocking(),
    );

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime can be made");
    say(
        "child awaits a lock",
        runtime.block_on(acquire("order:43").acquire()),
    );
    say("child renews its parent's", runtime.block_on(guard.renew()));
    let enter = guard.run(async { acquire("order:42").acquire().await });
    say(
        "child enters its parent's",
        runtime.block_on(enter).and_then(|entered| entered),
    );
    runtime.block_on(client.shutdown());
    println!("child shuts down: done");
    drop(guard);
}

fn parent(guard: LockGuard, child: libc::pid_t) {
    let ended = fork::ended_well(child).expect("it is our child");
    println!(
        "parent's child: {}",
        if ended { "ended well" } else { "failed" }
    );
    // Renewed twice at least by the background thread, if that is what it was.
    let ended = Instant::now();
    while ended.elapsed() < Duration::from_millis(1_500) {
        std::hint::spin_loop();
    }
    println!(
        "parent's lock: {}",
        if guard.is_valid() { "held" } else { "lost" }
    );
    say("parent releases", guard.release_blocking());
}

fn say<T: Debug>(what: &str, outcome: Result<T, LockError>) {
    match outcome {
        Ok(value) => println!("{what}: {value:?}"),
        Err(error) => println!("{what}: {:?}", error.kind()),
    }
}
