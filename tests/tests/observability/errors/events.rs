//! Log lines name the template of a key, and never the key.

use harness::RedisServer;
use lock_runtime::{LockClient, LockError, distributed_lock};

use super::{client, ms};
use crate::{log, record};

#[distributed_lock(key = "events-of:<id>", ttl = "3s", wait = "0s", client = client)]
async fn keep(client: &LockClient, id: &str, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    Ok(())
}

#[tokio::test]
async fn events_carry_the_template_and_the_function() {
    record();
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));

    keep(&one, "discreet", async || {
        keep(&other, "discreet", async || {}).await.unwrap_err();
    })
    .await
    .unwrap();
    let deleted = keep(&one, "discreet", async || {
        let mut delete = redis::cmd("DEL");
        delete
            .arg("lock:events-of:discreet")
            .exec(&mut server.connection())
            .unwrap();
        tokio::time::sleep(ms(20_000)).await;
    });
    assert!(deleted.await.unwrap_err().is_lost());

    let logged = log::text();
    let ours: Vec<&str> = logged
        .lines()
        .filter(|line| line.contains("events-of:"))
        .collect();
    for event in ["lock_acquired", "lock_not_acquired", "lock_lost"] {
        let line = ours.iter().find(|line| line.contains(event));
        let line = line.unwrap_or_else(|| panic!("{event} was not logged"));
        assert!(line.contains(r#"template="events-of:<id>""#), "{line}");
    }
    let lost = ours.iter().find(|line| line.contains("lock_lost")).unwrap();
    assert!(lost.contains(r#"function="keep""#), "{lost}");
    assert!(!logged.contains("discreet"), "a key was logged");
}
