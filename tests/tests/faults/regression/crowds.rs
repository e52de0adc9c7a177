//! Many callers whose wait ends at the same time.

use harness::{KEY, LOCK, LONG, RedisServer, ask, behind_a_proxy, client, failed, hold, ms};
use std::time::Duration;

use lock_runtime::{LockClient, LockErrorKind};
use tokio::task::JoinSet;

const CALLERS: usize = 500;

/// Every caller learns who holds the lock, and few send a command.
async fn is_refused_with_few_commands(server: &RedisServer, client: &LockClient, wait: Duration) {
    let mut monitor = server.monitor();
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(client.lock(KEY).wait(wait).acquire());
    }
    for outcome in callers.join_all().await {
        let error = failed(outcome, LockErrorKind::Busy);
        assert!(error.holder().is_some(), "{error}");
    }
    let asked = monitor.take().len();
    assert!(asked < CALLERS / 4, "{asked} commands of {CALLERS} callers");
}

/// Each caller made an attempt of its own when its wait ended, and even a healthy server could not answer so many in
/// time. Contention looked like an outage.
#[tokio::test]
async fn a_caller_that_leaves_a_local_queue_knows_the_last_state_of_its_head() {
    let server = RedisServer::start();
    let guard = hold(&client(server.url())).await;
    is_refused_with_few_commands(&server, &client(server.url()), ms(800)).await;
    guard.release().await.unwrap();
}

/// No answer has arrived when the wait of all callers ends. They wait for the attempt in flight, and for the next one,
/// whose answer names the holder.
#[tokio::test]
async fn a_crowd_whose_wait_ends_before_the_first_answer_asks_once() {
    let (server, proxy, ours) = behind_a_proxy().await;
    ask::<()>(
        &mut server.connection(),
        &["SET", LOCK, "another program's"],
    );
    proxy.replies(harness::Mode::Delay(ms(250)));
    is_refused_with_few_commands(&server, &ours, ms(50)).await;
}

/// While the holder's release is unanswered, no error reports it as the holder.
#[tokio::test]
async fn a_lock_that_is_being_released_in_an_outage_is_not_busy() {
    let (_server, proxy, ours) = behind_a_proxy().await;
    let guard = hold(&ours).await;
    let waiting = tokio::spawn(ours.lock(KEY).wait(LONG).acquire());
    proxy.black_hole();
    let _ = guard.release().await;
    let error = ours.lock(KEY).wait(ms(10)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    waiting.abort();
}

/// A caller behind the head reports an outage if the head does.
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
