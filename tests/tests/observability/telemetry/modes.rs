//! Readers, writers and permits in spans and events, on a server and in memory.

use harness::RedisServer;
use lock_runtime::{LockGuard, distributed_lock};

use super::{LockClient, LockError, client};
use crate::journal::told;

#[distributed_lock(key = "report:<id>", mode = "read", client = locks)]
async fn read(locks: &LockClient, id: u8, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    Ok(())
}

#[distributed_lock(key = "report:<id>", mode = "write", wait = "0s", client = locks)]
async fn rebuild(locks: &LockClient, id: u8) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "supplier:<id>", permits = 5, take = 4, client = locks)]
async fn import(locks: &LockClient, id: u8, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    Ok(())
}

#[distributed_lock(key = "supplier:<id>", permits = 5, take = 2, wait = "0s", client = locks)]
async fn order(locks: &LockClient, id: u8) -> Result<(), LockError> {
    Ok(())
}

/// The calls of one store, which has reports and a supplier with this number.
async fn says_what_stood_in_the_way([locks, other, third]: &[LockClient; 3], id: u8) {
    let body = async || {
        let error = rebuild(third, id).await.unwrap_err();
        let holder = error.holder().unwrap();
        assert!(holder.starts_with("2 readers, since "), "{holder}");
        let told = told("lock_not_acquired", "report:<id>").pop().unwrap();
        assert_eq!(told.field("holder"), holder);
    };
    let nested = async || read(other, id, body).await.unwrap();
    read(locks, id, nested).await.unwrap();

    let body = async || {
        let error = order(other, id).await.unwrap_err();
        let holder = error.holder().unwrap();
        let begin = "1 caller with 4 of 5 permits, since ";
        assert!(holder.starts_with(begin), "{holder}");
        let text = error.to_string();
        assert!(text.contains(&format!("busy: held by {begin}")), "{text}");
    };
    import(locks, id, body).await.unwrap();
}

#[tokio::test]
async fn refused_call_says_how_many_share_the_lock() {
    crate::record();
    let server = RedisServer::start();
    let clients = [(); 3].map(|()| client(server.url()));
    says_what_stood_in_the_way(&clients, 1).await;
    let modes = |template| {
        let calls = told("lock_acquire", template);
        let modes = calls.iter().map(|call| call.field("mode").to_owned());
        modes.collect::<Vec<_>>()
    };
    assert_eq!(modes("report:<id>"), ["read", "read", "write"]);
    assert_eq!(modes("supplier:<id>"), ["permits", "permits"]);
}

#[tokio::test]
async fn downgraded_hold_ends_and_another_begins() {
    crate::record();
    let server = RedisServer::start();
    let locks = client(server.url());
    let lock = locks.lock("downgraded").ttl(super::LONG);
    let writing: LockGuard = lock.write().acquire().await.unwrap();
    let token = writing.fencing_token();
    let reading = writing.downgrade().await.unwrap();
    assert!(reading.fencing_token() > token);
    reading.release().await.unwrap();
    let holds = told("lock_hold", "-");
    let of = |token: lock_runtime::FencingToken| {
        let token = i64::try_from(token.get()).unwrap();
        let hold = holds.iter().find(|hold| hold.number("token") == token);
        hold.unwrap().field("outcome").to_owned()
    };
    assert_eq!(of(token), "downgraded");
}
