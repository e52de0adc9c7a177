//! Callers on threads of their own, some of which are not polled at their turn.

use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use harness::{
    Form, KEY, LOCK, LONG, RedisServer, ask, client, ms, patient, ran_since, wait_until,
};
use lock_runtime::LockClient;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime can be made")
}

/// Polls a future once.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn visit(client: &LockClient, wait: Duration) {
    let begun = Instant::now();
    let guard = client.lock(KEY).wait(wait).await;
    let waited = begun.elapsed();
    assert!(
        ran_since(begun) < LONG / 2,
        "{waited:?} for a lock of microseconds"
    );
    match guard {
        Ok(guard) => guard.release().await.expect("it was held throughout"),
        Err(error) => assert!(error.is_busy(), "{error}"),
    }
}

/// Two callers come and go at the same time. One may find a local queue that is just ending, and must not wait behind a
/// head that does not exist. Every second call may give up at the moment of its turn, which must pass to the next.
fn come_and_go(client: &LockClient) {
    let end = Instant::now() + Form::of_this_run().pick(ms(400), ms(2_500));
    thread::scope(|scope| {
        for number in 1..=2_u64 {
            scope.spawn(move || {
                runtime().block_on(async {
                    let mut random = number;
                    while Instant::now() < end {
                        // Marsaglia's xorshift.
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        let pause = Instant::now() + Duration::from_nanos(random % 30_000);
                        while Instant::now() < pause {
                            std::hint::spin_loop();
                        }
                        visit(client, LONG).await;
                        visit(client, Duration::from_nanos(random % 60_000)).await;
                    }
                });
            });
        }
    });
    runtime().block_on(visit(client, LONG));
}

#[test]
fn callers_do_not_wait_behind_a_dropped_head() {
    let server = RedisServer::start();
    let builder = patient(server.url());
    for await_release in [true, false] {
        let client = builder.clone().await_release(await_release).build();
        come_and_go(&client.unwrap());
    }
    come_and_go(&LockClient::memory());
}

/// The head of a local queue is polled once and never again, for longer than its wait.
#[test]
fn an_unpolled_head_blocks_its_queue_no_longer_than_its_wait() {
    // The ttl identifies the caller that sends a command.
    const TTL: Duration = ms(12_345);
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let set: Option<String> = ask(&mut connection, &["SET", LOCK, "another program's"]);
    assert!(set.is_some());
    let (polled, head) = mpsc::channel();
    let (done, over) = mpsc::channel::<()>();
    let ours = client.clone();
    let blocked = thread::spawn(move || {
        runtime().block_on(async {
            let mut first = pin!(ours.lock(KEY).wait(ms(300)).acquire());
            assert!(poll_once(first.as_mut()).is_pending(), "it is held");
            polled.send(()).unwrap();
            // Another task of this runtime blocks the head.
            let _ = over.recv();
        });
    });
    head.recv().unwrap();
    let mut monitor = server.monitor();
    let acquire = client.lock(KEY).ttl(TTL).wait(LONG * 2).acquire();
    let follower = thread::spawn(|| runtime().block_on(acquire));
    // Only the head sends commands.
    wait_until("turn of the follower", LONG, || {
        let asks = |text: &str| text.contains(LOCK) && text.contains(&TTL.as_millis().to_string());
        monitor.take().iter().any(|command| asks(&command.text))
    });
    let _: i64 = ask(&mut connection, &["DEL", LOCK]);
    drop(follower.join().unwrap().expect("it is free"));
    drop(done);
    blocked.join().unwrap();
}

/// More callers than there may be commands in flight are polled once and never again: other callers are served.
#[test]
fn unpolled_callers_take_no_other_callers_place() {
    let server = RedisServer::start();
    let home = runtime();
    let client = home
        .block_on(patient(server.url()).connect())
        .expect("the server is there");
    let (mut parked, mut served) = (Vec::new(), Vec::new());
    let inside = home.enter();
    let begun = Instant::now();
    while parked.len() < 2_500 {
        assert!(ran_since(begun) < LONG, "{} are parked", parked.len());
        let number = parked.len() + served.len();
        let mut future = Box::pin(client.lock(format!("parked:{number}")).acquire());
        match poll_once(future.as_mut()) {
            Poll::Pending => parked.push(future),
            // The answer arrived during the poll, while the background had the connection.
            Poll::Ready(guard) => served.push(guard.expect("the lock is free")),
        }
    }
    drop(inside);
    let begun = Instant::now();
    let guard = runtime().block_on(async { client.lock(KEY).wait(LONG).acquire().await });
    drop(guard.expect("the lock is free"));
    let waited = begun.elapsed();
    assert!(ran_since(begun) < LONG / 2, "{waited:?}");
}
