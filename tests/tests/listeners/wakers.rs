//! Wakers of executors that are written by hand: they are called, and may panic.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use harness::{LONG, RedisServer, ms, soon};
use lock_runtime::LockClient;

/// As one that sends its task to an executor which is gone.
struct Angry;

impl Wake for Angry {
    fn wake(self: Arc<Self>) {
        resume_unwind(Box::new("nobody takes this task"));
    }
}

fn is_pending<F: Future>(future: Pin<&mut F>) -> bool {
    let waker = Waker::from(Arc::new(Angry));
    future.poll(&mut Context::from_waker(&waker)).is_pending()
}

#[tokio::test]
async fn one_that_panics_at_a_loss_stops_no_renewal() {
    let server = RedisServer::start();
    let client = LockClient::connect(&server.url()).await.unwrap();
    let renewed = client.lock("renewed").ttl(ms(5000)).acquire();
    let renewed = renewed.await.unwrap();
    let short = client.lock("short").ttl(ms(300)).renew(false).acquire();
    let short = short.await.unwrap();
    let mut lost = Box::pin(short.lost());
    assert!(is_pending(lost.as_mut()));
    // Longer than a lease that nobody renews.
    tokio::time::sleep(ms(6000)).await;
    soon(lost).await;
    renewed.release().await.expect("it was renewed");
}

#[tokio::test]
async fn one_that_panics_at_its_turn_is_nothing_to_whoever_gives_it() {
    let server = RedisServer::start();
    for turns in [1, 16] {
        let client = LockClient::builder().url(server.url()).local_turns(turns);
        let client = client.build().unwrap();
        let first = client.lock("turn").acquire().await.unwrap();
        let mut second = Box::pin(client.lock("turn").wait(LONG).acquire());
        assert!(is_pending(second.as_mut()));
        first.release().await.expect("it was held");
        let second = soon(second).await.expect("it is its turn");
        second.release().await.expect("it was held");
    }
}
