//! `lock-fork URL`: acquires a lock, forks, and prints what parent and child can still do.
//! `lock-fork URL runtime`: forks inside a runtime that drives the connection, with a command in
//! flight. `lock-fork URL retained`: forks while a lease is retained. `lock-fork URL namespace`, as process 1 of a
//! namespace: forks a child that is process 1 of another one.
//!
//! Each line is `child WHAT: OUTCOME` or `parent WHAT: OUTCOME`.

mod fork;

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::{Duration, Instant};
use std::{env, process};

use fork::Forked;
use lock_runtime::{LockClient, LockClientBuilder, LockError, LockGuard};

fn main() {
    let mut args = env::args().skip(1);
    let url = args
        .next()
        .expect("usage: lock-fork URL [runtime|retained|namespace]");
    let way = args.next();
    let into_namespace = way.as_deref() == Some("namespace");
    match way.as_deref() {
        None | Some("namespace") => {}
        Some("retained") => return while_retained(&url),
        Some(_) => return runtime().block_on(inside_a_runtime(&url)),
    }
    let client = patient(&url).build();
    let client = client.expect("the URL is well formed");
    let ours = client.lock("order:42").ttl(Duration::from_secs(3));
    let guard = ours.acquire_blocking().expect("the lock is free");
    let expected = into_namespace.then(|| {
        #[cfg(target_os = "linux")]
        fork::open_namespace().expect("this is root of a namespace");
        1
    });
    let numbered = || assert!(expected.is_none_or(|expected| expected == process::id()));
    numbered();
    match fork::fork().expect("there is memory for a child") {
        Forked::Child => {
            numbered();
            child(&client, guard, &url);
        }
        Forked::Parent { child } => parent(guard, child),
    }
}

/// A client that waits for answers as long as a busy machine takes.
fn patient(url: &str) -> LockClientBuilder {
    let builder = LockClient::builder().url(url);
    builder.command_timeout(Duration::from_secs(10))
}

/// Every operation that needs a server, and some that appear to need none.
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
    let another = patient(url).build();
    say(
        "child makes a client",
        another.and_then(|client| client.lock("order:43").acquire_blocking()),
    );
    say(
        "child makes a store in memory",
        LockClient::memory().lock("order:43").acquire_blocking(),
    );

    let runtime = runtime();
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
    tell_of(child);
    // The background thread, if it runs, has renewed the lease at least twice.
    let ended = Instant::now();
    while ended.elapsed() < Duration::from_millis(2_500) {
        std::hint::spin_loop();
    }
    println!(
        "parent's lock: {}",
        if guard.is_valid() { "held" } else { "lost" }
    );
    say("parent releases", guard.release_blocking());
}

/// The child continues its parent's runtime, which has queued a command but not sent it.
async fn inside_a_runtime(url: &str) {
    let client = patient(url).build();
    let client = client.expect("the URL is well formed");
    let ours = client.lock("order:42").acquire().await;
    let ours = ours.expect("the lock is free");
    let mut key = 43;
    let acquire = loop {
        let mut acquire = Box::pin(client.lock(format!("order:{key}")).acquire());
        let polled = poll_fn(|cx| Poll::Ready(acquire.as_mut().poll(cx))).await;
        match polled {
            Poll::Pending => break acquire,
            // This thread was stalled between the command and the check for its answer.
            Poll::Ready(guard) => drop(guard.expect("the lock is free")),
        }
        key += 100;
    };
    match fork::fork().expect("there is memory for a child") {
        Forked::Child => {
            for _ in 0..100 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            say(
                "child awaits a lock",
                client.lock("order:44").acquire().await,
            );
        }
        Forked::Parent { child } => {
            tell_of(child);
            let theirs = acquire.await.expect("it was sent once");
            for guard in [ours, theirs] {
                say("parent releases", guard.release().await);
            }
        }
    }
}

/// The child must neither use the lease nor release it.
fn while_retained(url: &str) {
    let client = patient(url);
    let client = client.retain(Duration::from_secs(10)).build();
    let client = client.expect("the URL is well formed");
    let visit = || {
        let guard = client.lock("order:42").acquire_blocking()?;
        let token = guard.fencing_token_blocking()?.get();
        guard.release_blocking().map(|()| token)
    };
    let token = visit().expect("the lock is free");
    match fork::fork().expect("there is memory for a child") {
        Forked::Child => {
            say("child takes what is retained", visit());
            runtime().block_on(client.shutdown());
            drop(client);
            println!("child drops its client: done");
        }
        Forked::Parent { child } => {
            tell_of(child);
            say("parent's next turn", visit().map(|next| next - token));
            runtime().block_on(client.shutdown());
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime can be made")
}

/// Waits for the end of the child.
fn tell_of(child: libc::pid_t) {
    let ended = fork::ended_well(child).expect("it is our child");
    println!(
        "parent's child: {}",
        if ended { "ended well" } else { "failed" }
    );
}

fn say<T: Debug>(what: &str, outcome: Result<T, LockError>) {
    match outcome {
        Ok(value) => println!("{what}: {value:?}"),
        Err(error) => println!("{what}: {:?}", error.kind()),
    }
}
