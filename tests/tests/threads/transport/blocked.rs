//! Runtimes that use the connection and then block.

use std::sync::mpsc;
use std::time::Instant;

use super::*;
use harness::ran_since;

const TTL: std::time::Duration = ms(3_000);

#[test]
fn a_held_lock_is_renewed_while_the_only_thread_or_worker_blocks() {
    let _alone = alone();
    for (kind, runtime) in both() {
        let server = RedisServer::start();
        let body = async move {
            let client = client(server.url());
            let guard = client.lock("held").ttl(TTL).acquire().await.unwrap();
            settle_in(&client).await;
            let started = Instant::now();
            block_until(|| started.elapsed() > TTL * 4 / 3);
            assert!(guard.is_valid(), "{kind}: it was not renewed");
            let released = guard.release().await;
            assert!(released.is_ok(), "{kind}: {released:?}");
        };
        let body = async { tokio::spawn(body).await };
        runtime.block_on(body).unwrap();
    }
}

/// The reading runtime does not poll while a command is outstanding. Callers on other threads must wait
/// neither for it nor for the command timeout.
fn callers_are_answered_while_the_runtime_blocks(kind: &str, runtime: Runtime) {
    let server = RedisServer::start();
    let builder = patient(server.url());
    let client = inside(&runtime, || builder.build().unwrap());

    let (blocks, blocked) = mpsc::channel();
    let (go_on, told) = mpsc::channel::<()>();
    let theirs = client.clone();
    let home = thread(move || {
        runtime.block_on(async {
            let work = async move {
                settle_in(&theirs).await;
                // The acquire is queued and not yet written when the thread blocks.
                let mut acquire = Box::pin(theirs.lock("theirs").acquire());
                let first = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(acquire.as_mut().poll(cx).is_ready())
                });
                assert!(!first.await, "it takes a round trip");
                blocks.send(()).unwrap();
                block_until(|| told.try_recv().is_ok());
                let guard = acquire.await.expect("its answer was read meanwhile");
                guard.release().await.expect("it was held throughout");
            };
            tokio::spawn(work).await.unwrap();
        });
    });
    blocked.recv_timeout(LONG).unwrap();
    let started = Instant::now();
    current_thread().block_on(cycle(&client));
    let elapsed = started.elapsed();
    go_on.send(()).unwrap();
    home.join().unwrap();
    assert!(ran_since(started) < LONG / 4, "{kind}: it took {elapsed:?}");
}

#[test]
fn callers_are_answered_while_the_only_thread_or_worker_blocks() {
    let _alone = alone();
    for (kind, runtime) in both() {
        callers_are_answered_while_the_runtime_blocks(kind, runtime);
    }
}

/// A caller waits with an executor of its own inside the runtime, so the runtime's reader is never polled. If each
/// answer waited until that is detected, these calls would take a minute.
#[test]
fn a_runtime_that_always_blocks_is_not_waited_for() {
    const CYCLES: u32 = 1_500;
    let (_alone, server) = alone_with_a_server();
    current_thread().block_on(async {
        let client = patient(server.url());
        let client = client.connect().await.unwrap();
        let started = Instant::now();
        for _ in 0..CYCLES {
            executor::block_on(cycle(&client));
        }
        let elapsed = started.elapsed();
        assert!(ran_since(started) < CYCLES * ms(20), "it took {elapsed:?}");
    });
}

/// A waiter on another runtime is notified of its grant while the runtime that read the connection until now blocks.
#[test]
fn a_waiter_is_notified_while_the_runtime_blocks() {
    let (_alone, server) = alone_with_a_server();
    let runtime = current_thread();
    let ours = inside(&runtime, || client(server.url()));
    let holder = client(server.url());
    let guard = holder.lock(KEY).acquire_blocking().unwrap();
    let waiting = ours.clone();
    let waiter = thread(move || {
        let acquire = waiting.lock(KEY).wait(LONG).acquire();
        let guard = current_thread().block_on(acquire).expect("it is granted");
        guard.release_blocking().expect("it was held throughout");
    });
    runtime.block_on(async {
        let other = ours.lock("other");
        eventually("waiter", LONG, async || {
            drop(other.clone().acquire().await.unwrap());
            ask::<i64>(&mut server.connection(), &["ZCARD", harness::QUEUE]) > 0
        })
        .await;
        guard.release_blocking().unwrap();
        block_until(|| waiter.is_finished());
    });
    waiter.join().unwrap();
}

/// The smallest possible executor.
mod executor {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::{self, Thread};

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => thread::park(),
            }
        }
    }
}
