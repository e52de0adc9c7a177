//! `lock-service URL GRACE BODY KEY…`: a service that works under a lock for each key, and shuts
//! down gracefully on SIGTERM. Times are in milliseconds.
//!
//! It prints `entered KEY` when a body begins, `KEY finished` or `KEY failed KIND` when a call has
//! ended, and `down` at the end.

use std::env;
use std::time::Duration;

use lock_runtime::LockClient;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let [url, grace, body, keys @ ..] = &args[..] else {
        panic!("usage: lock-service URL GRACE BODY KEY...");
    };
    let (grace, body) = (millis(grace), millis(body));
    let mut sigterm = signal(SignalKind::terminate()).expect("signals can be listened to");
    let client = LockClient::builder().url(url).shutdown_grace(grace).build();
    let client = client.expect("the settings are valid");

    let mut calls = JoinSet::new();
    for key in keys {
        let key = key.clone();
        let acquire = client
            .lock(&key[..])
            .wait(Duration::from_secs(60))
            .acquire();
        calls.spawn(async move {
            let work = async {
                let guard = acquire.await?;
                println!("entered {key}");
                let worked = guard.run(tokio::time::sleep(body)).await;
                let released = guard.release().await;
                worked.and(released)
            };
            match work.await {
                Ok(()) => println!("{key} finished"),
                Err(error) => println!("{key} failed {:?}", error.kind()),
            }
        });
    }
    sigterm.recv().await;
    client.shutdown().await;
    calls.join_all().await;
    println!("down");
}

fn millis(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("times are numbers of milliseconds"))
}
