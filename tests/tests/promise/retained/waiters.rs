//! The effect of a retained lease on other clients.

use std::time::Instant;

use harness::{KEY, LONG, RedisServer, ran_since, token_of};

use super::tools::{RETAIN, connected, retaining, visit};

/// The client is notified of the new waiter and ends the lease in its favour; the waiter confirms it.
#[tokio::test]
async fn a_waiter_of_another_client_has_a_retained_lock_at_once() {
    let server = RedisServer::start();
    let (ours, other) = (connected(&server).await, connected(&server).await);
    let mut monitor = server.monitor();
    // The waiter queues and confirms, and the client ends the lease. In the first round the waiter does not know that the lock
    // is taken, and the script is loaded.
    for commands in [5, 3] {
        let token = visit(&ours).await;
        monitor.take();
        let asked = Instant::now();
        let guard = other.lock(KEY).wait(LONG).await.unwrap();
        assert!(ran_since(asked) < RETAIN / 2);
        assert!(token_of(&guard).await.get() > token);
        let mut sent = monitor.take();
        // A waiter on a slow machine polls more than once.
        sent.dedup_by(|one, last| one.text == last.text);
        assert_eq!(sent.len(), commands, "{sent:?}");
        guard.release().await.unwrap();
    }
}

/// The last caller's runtime is not polled, or does not exist: the background reads the message.
#[test]
fn a_waiter_of_another_client_has_a_retained_lock_whose_last_caller_reads_nothing() {
    let server = RedisServer::start();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let standing = runtime();
    for blocking in [false, true] {
        let ours = standing.block_on(connected(&server));
        let token = if blocking {
            let guard = retaining(&ours).acquire_blocking().unwrap();
            let token = guard.fencing_token_blocking().unwrap().get();
            guard.release_blocking().unwrap();
            token
        } else {
            standing.block_on(visit(&ours))
        };
        let asked = Instant::now();
        let guard = runtime().block_on(async {
            let other = connected(&server).await;
            other.lock(KEY).wait(LONG).await.unwrap()
        });
        assert!(ran_since(asked) < RETAIN / 2);
        assert!(guard.fencing_token_blocking().unwrap().get() > token);
        drop((guard, ours));
    }
}
