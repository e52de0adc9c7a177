//! Subscribers that listen to locks and misbehave: they panic, block, or acquire locks.
//!
//! One subscriber serves the whole process, as in an application, and the background thread reports to
//! it as well.

use std::fmt::Debug;
use std::future::pending;
use std::sync::{Mutex, OnceLock, mpsc};

use harness::{LONG, RedisServer, ms, patient, soon};
use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock, testing};
use tokio::sync::oneshot;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

mod wakers;

/// Listens to events and spans that carry a template.
struct Listener;

/// A span that can no longer be reported.
const BROKEN: u64 = 2;

/// Ends the sleep of the listener for `sleeps:<id>`.
static UNTIL: Mutex<Option<mpsc::Receiver<()>>> = Mutex::new(None);

/// The answer that the listener for `asks:<id>` gets.
static ASKED: OnceLock<LockClient> = OnceLock::new();

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "lock_runtime"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut told = Told::default();
        span.record(&mut told);
        match (span.metadata().name(), told.template.as_str()) {
            ("lock_acquire", "unmade:<id>") => panic!("a listener that fails"),
            ("lock_hold", "slow:<id>") => {
                blocks();
                Id::from_u64(1)
            }
            ("lock_acquire", "asked:<id>") | ("lock_hold", "held:<id>") => Id::from_u64(BROKEN),
            _ => Id::from_u64(1),
        }
    }

    fn event(&self, event: &Event<'_>) {
        let mut told = Told::default();
        event.record(&mut told);
        match (told.message.as_str(), told.template.as_str()) {
            ("lock_lost", "asks:<id>") => {
                let client = ASKED.get().expect("it was set before");
                drop(client.lock("asks:1").try_acquire_blocking());
            }
            ("lock_lost", "panics:<id>") => panic!("a listener that fails"),
            ("lock_lost", "sleeps:<id>") => {
                let until = UNTIL.lock().unwrap().take();
                let until = until.expect("it was set before");
                let _ = until.recv_timeout(LONG * 2);
            }
            _ => {}
        }
    }

    fn record(&self, id: &Id, _: &Record<'_>) {
        assert_ne!(id.into_u64(), BROKEN, "a listener that fails");
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}

    fn try_close(&self, id: Id) -> bool {
        assert_ne!(id.into_u64(), BROKEN, "a listener that fails");
        true
    }
}

#[expect(clippy::disallowed_methods, reason = "this is what it must not do")]
fn blocks() {
    std::thread::sleep(ms(1500));
}

#[derive(Default)]
struct Told {
    message: String,
    template: String,
}

impl Visit for Told {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "template" {
            value.clone_into(&mut self.template);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        tracing::subscriber::set_global_default(Listener).expect("it is the only one");
    });
}

#[distributed_lock(key = "asks:<id>", client = locks)]
async fn asks(locks: &LockClient, id: u64) -> Result<(), LockError> {
    pending().await
}

#[distributed_lock(key = "panics:<id>", ttl = "300ms", renew = false, client = locks)]
async fn panics(locks: &LockClient, id: u64) -> Result<(), LockError> {
    pending().await
}

#[distributed_lock(key = "sleeps:<id>", ttl = "300ms", renew = false, client = locks)]
async fn sleeps(
    locks: &LockClient,
    id: u64,
    stopped: oneshot::Sender<()>,
) -> Result<(), LockError> {
    let _stopped = stopped;
    pending().await
}

#[distributed_lock(key = "slow:<id>", ttl = "300ms", renew = false, client = locks)]
fn slow(locks: &LockClient, id: u64, begun: &mut bool) -> Result<(), LockError> {
    *begun = true;
    Ok(())
}

#[distributed_lock(key = "unmade:<id>", client = locks)]
async fn unmade(locks: &LockClient, id: u64) -> Result<u64, LockError> {
    Ok(id)
}

#[distributed_lock(key = "asked:<id>", client = locks)]
async fn asked(locks: &LockClient, id: u64) -> Result<u64, LockError> {
    Ok(id)
}

#[distributed_lock(key = "held:<id>", ttl = "60s", client = locks)]
async fn held(locks: &LockClient, id: u64, inside: oneshot::Sender<()>) -> Result<u64, LockError> {
    let _ = inside.send(());
    match id {
        0 => pending().await,
        id => Ok(id),
    }
}

#[tokio::test]
async fn a_listener_that_asks_for_the_lock_does_not_wait_for_itself() {
    listen();
    let client = LockClient::memory();
    ASKED.set(client.clone()).expect("it is set once");
    let body = asks(&client, 1);
    let lose = async {
        while testing::lose(&client, "asks:1").is_err() {
            tokio::task::yield_now().await;
        }
    };
    let (body, ()) = soon(async { tokio::join!(body, lose) }).await;
    assert_eq!(body.unwrap_err().kind(), LockErrorKind::Lost);
}

#[tokio::test]
async fn a_listener_and_a_waker_that_panic_at_a_loss_stop_no_renewal() {
    listen();
    let server = RedisServer::start();
    let client = patient(server.url()).connect().await.unwrap();
    let renewed = client.lock("renewed").ttl(ms(3000)).acquire();
    let renewed = renewed.await.unwrap();
    let lost = soon(panics(&client, 1)).await;
    assert_eq!(lost.unwrap_err().kind(), LockErrorKind::Lost);
    let short = client.lock("short").ttl(ms(300)).renew(false).acquire();
    let short = short.await.unwrap();
    let mut lost = Box::pin(short.lost());
    assert!(wakers::is_pending(lost.as_mut()));
    // Longer than a lease without renewal.
    tokio::time::sleep(ms(4000)).await;
    soon(lost).await;
    renewed.release().await.expect("it was renewed");
}

#[tokio::test]
async fn a_listener_that_panics_fails_no_call_and_prevents_no_release() {
    listen();
    let server = RedisServer::start();
    let client = patient(server.url()).connect().await.unwrap();
    assert_eq!(unmade(&client, 1).await.unwrap(), 1);
    assert_eq!(asked(&client, 2).await.unwrap(), 2);
    assert_eq!(held(&client, 3, oneshot::channel().0).await.unwrap(), 3);

    let (inside, is_inside) = oneshot::channel();
    let locks = client.clone();
    let call = tokio::spawn(async move { held(&locks, 0, inside).await });
    soon(is_inside).await.unwrap();
    call.abort();
    let cancelled = soon(call).await.unwrap_err();
    assert!(cancelled.is_cancelled(), "{cancelled}");
    let next = client.lock("held:0").wait(LONG).acquire().await.unwrap();
    next.release().await.unwrap();
}

#[tokio::test]
async fn a_body_is_stopped_before_a_listener_that_sleeps_is_called() {
    listen();
    let server = RedisServer::start();
    let client = patient(server.url()).connect().await.unwrap();
    let (wakes, until) = mpsc::channel();
    *UNTIL.lock().unwrap() = Some(until);
    let (stopped, stops) = oneshot::channel();
    let call = tokio::spawn(async move { sleeps(&client, 1, stopped).await });
    // Dropped with the body, while the listener sleeps.
    soon(stops).await.unwrap_err();
    wakes.send(()).unwrap();
    let lost = soon(call).await.expect("it does not panic");
    assert_eq!(lost.unwrap_err().kind(), LockErrorKind::Lost);
}

#[test]
fn a_blocking_body_does_not_begin_after_a_listener_outlasted_its_lease() {
    listen();
    let server = RedisServer::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let connected = runtime.block_on(patient(server.url()).connect());
    let client = connected.unwrap();
    let mut begun = false;
    let lost = slow(&client, 1, &mut begun);
    assert_eq!(lost.unwrap_err().kind(), LockErrorKind::Lost);
    assert!(!begun, "it ran without its lock");
}
