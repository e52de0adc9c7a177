//! Many callers whose wait is over at the same time.

use harness::RedisServer;
use lock_runtime::LockErrorKind;
use tokio::task::JoinSet;

use harness::{KEY, LOCK, LONG, ask, behind_a_proxy, client, hold, ms};

const CALLERS: usize = 500;

/// Each asked by itself at the end, and so many at once that a healthy server could not answer in
/// time: contention looked like an outage.
#[tokio::test]
async fn a_caller_that_leaves_a_line_knows_what_its_head_knows() {
    let server = RedisServer::start();
    let guard = hold(&client(server.url())).await;
    let ours = client(server.url());
    let mut monitor = server.monitor();
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(ours.lock(KEY).wait(ms(800)).acquire());
    }
    for outcome in callers.join_all().await {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Busy, "{error}");
        assert!(
            error.holder().is_some_and(|it| it.contains("pid")),
            "{error}"
        );
    }
    let asked = monitor.take().len();
    assert!(
        asked < CALLERS / 4,
        "{asked} commands for {CALLERS} callers"
    );
    guard.release().await.unwrap();
}

/// Nothing is known when the wait of all is over: they wait for the one answer that is on its way.
#[tokio::test]
async fn a_crowd_whose_wait_ends_before_the_first_answer_asks_once() {
    let (server, proxy, ours) = behind_a_proxy().await;
    ask::<()>(&mut server.connection(), &["SET", LOCK, "somebody else's"]);
    let mut monitor = server.monitor();
    proxy.replies(harness::Mode::Delay(ms(400)));
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(ours.lock(KEY).wait(ms(50)).acquire());
    }
    for outcome in callers.join_all().await {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Busy, "{error}");
    }
    let asked = monitor.take().len();
    assert!(
        asked < CALLERS / 4,
        "{asked} commands for {CALLERS} callers"
    );
}

/// While the holder's release is not answered, nobody says that it holds the lock.
#[tokio::test]
async fn a_lock_that_is_being_given_back_in_an_outage_is_not_busy() {
    let (_server, proxy, ours) = behind_a_proxy().await;
    let guard = hold(&ours).await;
    let waiting = tokio::spawn(ours.lock(KEY).wait(LONG).acquire());
    proxy.black_hole();
    let _ = guard.release().await;
    let error = ours.lock(KEY).wait(ms(10)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    waiting.abort();
}

/// The head is a caller of this client that has the lock.
#[tokio::test]
async fn a_waiter_behind_a_holder_of_its_own_client_sends_no_command() {
    let server = RedisServer::start();
    let ours = client(server.url());
    let guard = hold(&ours).await;
    let mut monitor = server.monitor();
    let error = ours.lock(KEY).wait(ms(50)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Busy, "{error}");
    assert!(
        error.holder().is_some_and(|it| it.contains("pid")),
        "{error}"
    );
    assert_eq!(monitor.take().len(), 0);
    guard.release().await.unwrap();
}

/// And what it knows is an outage if it is one.
#[tokio::test]
async fn a_line_whose_head_is_not_answered_is_told_so() {
    let (server, proxy, ours) = behind_a_proxy().await;
    ask::<()>(&mut server.connection(), &["SET", LOCK, "somebody else's"]);
    let head = tokio::spawn(ours.lock(KEY).wait(LONG).acquire());
    proxy.black_hole();
    let error = ours.lock(KEY).wait(ms(2_500)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    head.abort();
}
