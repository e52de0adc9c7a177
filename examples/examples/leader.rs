//! One of several instances leads, and another one takes over when it is gone.
//!
//! ```text
//! cargo run -p lock-examples --example leader
//! ```
//!
//! Three instances in this process lead one after the other. With `LOCK_URL=redis://127.0.0.1:6379` and
//! `-- alone` after the command, a process is one instance: start it in two or three terminals. Press Ctrl-C
//! in the one that leads, and another one leads at once. Kill one with `kill -9`, and another one leads when the
//! lease of five seconds is over.

use std::error::Error;
use std::time::Duration;

use lock_runtime::{FencingToken, LockClient, LockError, Standing, campaign, distributed_lock};
use tokio::sync::Notify;

/// Leads until it is stopped. Nobody else is here at that time, but for a process that was paused: so each
/// write carries the term.
#[distributed_lock(key = "leader", ttl = "5s", wait = "1h", token = term, client = locks)]
async fn lead(locks: &LockClient, name: &str) -> Result<(), LockError> {
    for round in 1.. {
        tick(name, term, round).await;
    }
    Ok(())
}

async fn tick(name: &str, term: FencingToken, round: u32) {
    println!("{name}: round {round} of term {term}");
    tokio::time::sleep(Duration::from_millis(200)).await;
}

/// Stands until `stop` completes, which may wait until the instance leads.
async fn instance(
    locks: &LockClient,
    name: &str,
    leads: &Notify,
    stop: impl Future,
) -> Result<(), LockError> {
    campaign(|| lead(locks, name))
        .on_change(|standing| match standing {
            Standing::Candidate => println!("{name} stands"),
            Standing::Leader { key } => {
                println!("{name} leads {key}");
                leads.notify_one();
            }
            Standing::Again { why } => println!("{name} stands again: {why}"),
            _ => {}
        })
        .until(stop)
        .await?;
    println!("{name} stopped");
    Ok(())
}

/// An instance that leads for a second.
async fn term(locks: &LockClient, name: &str) -> Result<(), LockError> {
    let leads = Notify::new();
    let stop = async {
        leads.notified().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    instance(locks, name, &leads, stop).await
}

/// Prints each leader that it sees.
async fn watch(locks: &LockClient) -> Result<(), LockError> {
    let mut watch = locks.watch("leader");
    while let Some(state) = watch.changed().await? {
        match state.holders.first() {
            Some(leader) => println!("the leader is {:?}", leader.label),
            None => println!("nobody leads"),
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    let locks = LockClient::connect(url).await?;
    let leading = async {
        if std::env::args().any(|arg| arg == "alone") {
            let stop = tokio::signal::ctrl_c();
            instance(&locks, "this instance", &Notify::new(), stop).await?;
        } else {
            tokio::try_join!(
                term(&locks, "first"),
                term(&locks, "second"),
                term(&locks, "third"),
            )?;
        }
        // Ends the watch as well.
        locks.shutdown().await;
        Ok(())
    };
    tokio::try_join!(watch(&locks), leading)?;
    Ok(())
}
