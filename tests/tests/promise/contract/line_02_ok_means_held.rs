//! `Ok` means held throughout.

use harness::{
    Mode, RedisServer, behind_a_proxy, exists, ran_since, server_and_client, wait_until,
};
use lock_runtime::{LockClient, LockError, distributed_lock};

use super::{KEY, LOCK, LONG, SLACK, ask, ms, soon};

#[derive(Debug, PartialEq)]
enum ShipError {
    Lock(lock_runtime::LockErrorKind),
    NoStock,
}

impl From<LockError> for ShipError {
    fn from(error: LockError) -> ShipError {
        ShipError::Lock(error.kind())
    }
}

/// A body during which the lock is deleted.
#[distributed_lock(key = "order:42", client = locks)]
async fn robbed(
    locks: &LockClient,
    server: &RedisServer,
    own: Result<u8, ShipError>,
) -> Result<u8, ShipError> {
    let _: i64 = ask(&mut server.connection(), &["DEL", LOCK]);
    own
}

/// The same without an await.
#[distributed_lock(key = "order:42", client = locks)]
fn robbed_blocking(
    locks: &LockClient,
    server: &RedisServer,
    own: Result<u8, ShipError>,
) -> Result<u8, ShipError> {
    let _: i64 = ask(&mut server.connection(), &["DEL", LOCK]);
    own
}

/// A body that blocks the thread past its deadline, in a single poll.
#[distributed_lock(key = "order:42", ttl = "100ms", renew = false, guard = lock, client = locks)]
async fn overrun(locks: &LockClient, own: Result<u8, ShipError>) -> Result<u8, ShipError> {
    wait_until("deadline", LONG, || !lock.is_valid());
    own
}

#[tokio::test]
async fn line_2_a_result_under_a_lock_that_was_stolen_is_lost() {
    let (server, client) = server_and_client();
    let lost = Err(ShipError::Lock(lock_runtime::LockErrorKind::Lost));
    assert_eq!(robbed(&client, &server, Ok(1)).await, lost);
    assert_eq!(robbed_blocking(&client, &server, Ok(1)), lost);
}

#[tokio::test]
async fn line_2_the_bodys_own_error_is_never_masked() {
    let (server, client) = server_and_client();
    let own = || Err(ShipError::NoStock);
    assert_eq!(robbed(&client, &server, own()).await, own());
    assert_eq!(robbed_blocking(&client, &server, own()), own());
}

#[tokio::test]
async fn line_2_an_unanswered_release_is_judged_by_the_deadline() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    let ttl = ms(5_000);
    let body = async |_: &_| proxy.replies(Mode::Hold);
    let started = std::time::Instant::now();
    let run = client.lock(KEY).ttl(ttl).run(body).await;
    run.expect("it was held until the end of the body");
    assert!(
        ran_since(started) < ms(1_000) + SLACK,
        "it waits for a second"
    );
    // The release itself has arrived.
    assert!(!exists(&mut connection, LOCK));

    // The requests are held back as well, and the background repeats the release until it arrives.
    proxy.heal();
    let run = client.lock(KEY).wait(LONG).ttl(ttl);
    let run = run.run(async |_| proxy.black_hole()).await;
    run.expect("it was held until the end of the body");
    assert!(exists(&mut connection, LOCK), "nothing has arrived");
    proxy.kill_connections();
    proxy.heal();
    let released = || !exists(&mut connection, LOCK);
    wait_until("late release", ttl / 2, released);
}

#[tokio::test]
async fn line_2_a_body_that_overruns_its_deadline_has_no_result_but_its_own_error() {
    let (_server, client) = server_and_client();
    let lost = Err(ShipError::Lock(lock_runtime::LockErrorKind::Lost));
    assert_eq!(soon(overrun(&client, Ok(1))).await, lost);
    let own = Err(ShipError::NoStock);
    assert_eq!(soon(overrun(&client, own)).await, Err(ShipError::NoStock));
}

#[tokio::test]
async fn line_2_no_body_begins_under_an_expired_guard() {
    let (_server, client) = server_and_client();
    let lease = client.lock(KEY).wait(LONG).ttl(ms(100)).renew(false);
    let guard = lease.acquire().await.unwrap();
    let overrun = async { wait_until("deadline", LONG, || !guard.is_valid()) };
    assert!(guard.run(overrun).await.unwrap_err().is_lost());
    let began = guard.run(async { panic!("the body started") }).await;
    assert!(began.unwrap_err().is_lost());
}
