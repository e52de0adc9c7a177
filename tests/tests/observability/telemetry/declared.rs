//! A key that a type declares brings its template into every report.

use harness::{RedisServer, ms, patient};
use lock_runtime::{LockKey, distributed_lock};

use super::meter::{record, sum};
use super::{LockClient, LockError};
use crate::journal::told;

#[derive(LockKey)]
#[lock_key("{<tenant>}:declared:<id>")]
struct DeclaredKey<'a> {
    tenant: &'a str,
    id: u64,
}

const TEMPLATE: &str = "{<tenant>}:declared:<id>";

fn key(id: u64) -> DeclaredKey<'static> {
    DeclaredKey { tenant: "t", id }
}

#[distributed_lock(key = DeclaredKey { tenant, id }, client = locks)]
async fn one(locks: &LockClient, tenant: &str, id: u64) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(keys = [key(*id), key(id + 1)], client = locks)]
async fn both(locks: &LockClient, id: &u64) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(keys = ["declared-2:<id>", key(id)], client = locks)]
async fn mixed(locks: &LockClient, id: u64) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(keys = [LockKey::from(key(id)), LockKey::from("declared-3")], client = locks)]
async fn unlike(locks: &LockClient, id: u64) -> Result<(), LockError> {
    Ok(())
}

/// How many calls, holds and acquisitions of a template were reported, and by which function.
#[track_caller]
fn assert_told(template: &str, functions: &[&str]) {
    for name in ["lock_acquire", "lock_acquired", "lock_hold"] {
        let told = told(name, template);
        let told: Vec<_> = told.iter().map(|line| line.field("function")).collect();
        assert_eq!(told, functions, "{name} {template}");
    }
    let acquired = format!("{{template={template},outcome=acquired}}");
    let acquired = sum(&format!("distributed_lock_acquisitions_total{acquired}"));
    assert_eq!(acquired, functions.len() as f64, "{template}");
}

#[tokio::test]
async fn declared_template_is_reported_however_the_lock_is_taken() {
    crate::record();
    record();
    let server = RedisServer::start();
    let locks = patient(server.url()).label("api-7@here").build().unwrap();
    one(&locks, "t", 1).await.unwrap();
    both(&locks, &1).await.unwrap();
    locks.lock(key(1)).run(async |_| ()).await.unwrap();
    let all = locks.lock_all([key(2), key(1)]).acquire().await.unwrap();
    all.release().await.unwrap();
    let guard = locks.lock(key(1)).acquire().await.unwrap();
    // The holder's label has a name that the program gave, and not the template: the key shows it.
    let busy = super::client(server.url());
    let busy = busy
        .lock(key(1))
        .name("declared-name")
        .wait(ms(0))
        .acquire();
    let holder = format!("api-7@here (pid {})", std::process::id());
    assert_eq!(busy.await.unwrap_err().holder(), Some(&*holder));
    guard.release().await.unwrap();
    assert_told(TEMPLATE, &["one", "both", "", "", ""]);
    assert_eq!(told("lock_acquire", "declared-name").len(), 1);

    mixed(&locks, 1).await.unwrap();
    assert_told("declared-2:<id>, …", &["mixed"]);
    unlike(&locks, 1).await.unwrap();
    assert_told("unlike", &["unlike"]);
}
