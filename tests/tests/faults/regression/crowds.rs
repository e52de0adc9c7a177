//! Many callers whose wait is over at the same time.

use harness::RedisServer;
use lock_runtime::LockErrorKind;
use tokio::task::JoinSet;

use harness::{KEY, LOCK, LONG, ask, behind_a_proxy, client, hold, ms};

const CALLERS: usize = 500;

/// Each caller made an attempt of its own at its end, and a healthy server could not answer so many in
/// time. Contention looked like an outage.
#[tokio::test]
async fn a_caller_that_leaves_a_local_queue_knows_the_last_state_of_its_head() {
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

/// No answer has arrived when the wait of all callers is over: they wait for the one that is under way.
#[tokio::test]
async fn a_crowd_whose_wait_ends_before_the_first_answer_asks_once() {
    let (server, proxy, ours) = behind_a_proxy().await;
    ask::<()>(
        &mut server.connection(),
        &["SET", LOCK, "another program's"],
    );
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

/// While the holder's release is unanswered, no error reports it as the holder.
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

/// The head is a caller of this client, and has the lock.
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

/// A caller behind the head reports an outage if the head meets one.
#[tokio::test]
async fn a_waiter_whose_head_is_not_answered_reports_an_outage() {
    let (server, proxy, ours) = behind_a_proxy().await;
    ask::<()>(
        &mut server.connection(),
        &["SET", LOCK, "another program's"],
    );
    let head = tokio::spawn(ours.lock(KEY).wait(LONG).acquire());
    proxy.black_hole();
    let error = ours.lock(KEY).wait(ms(2_500)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    head.abort();
}
