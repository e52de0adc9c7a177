//! The trials of each row of the tables.
//!
//! Every function locks with the installed client, which never waits. Every row has a key of its own, so rows may run
//! at the same time. A body calls [`inside`], or awaits [`pausing`], which act as the current trial demands;
//! [`entered`] and [`paused`] do the same and return.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{LazyLock, Mutex, OnceLock};
use std::task::Poll;
use std::thread::{self, ThreadId};
use std::time::Duration;

use lock_runtime::{LockClient, LockError};

/// The task of a body.
#[derive(Clone, Copy, PartialEq)]
enum Trial {
    /// This must not run: another holder has the lock.
    Busy,
    Panic,
    /// This waits for ever, and is dropped; see [`Body`].
    Cancel,
    End,
}

/// The payload of a body's panic, so that no other panic passes for it.
struct Asked;

thread_local! {
    static TRIAL: Cell<Trial> = const { Cell::new(Trial::End) };
    static KEY: RefCell<String> = const { RefCell::new(String::new()) };
    static ENTERED: Cell<bool> = const { Cell::new(false) };
    /// Whether the body waits for ever.
    static WAITING: Cell<bool> = const { Cell::new(false) };
}

/// An application's error.
#[derive(Debug)]
pub(crate) enum AppError {
    Lock(LockError),
    Own,
}

impl From<LockError> for AppError {
    fn from(error: LockError) -> AppError {
        AppError::Lock(error)
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AppError::Lock(error) => error.fmt(f),
            AppError::Own => f.write_str("of its own"),
        }
    }
}

impl std::error::Error for AppError {}

/// Called by a body that runs under its lock.
pub(crate) fn inside() {
    ENTERED.set(true);
    KEY.with_borrow(|key| assert!(held(key), "the body of `{key}` runs without the lock"));
    assert!(
        TRIAL.get() != Trial::Busy,
        "the body runs at the same time as another"
    );
    if TRIAL.get() == Trial::Panic {
        // This does not call the panic hook, since the panic is not a failure.
        resume_unwind(Box::new(Asked));
    }
}

/// [`inside`] an async body, which still holds its lock after an await.
pub(crate) async fn pausing() {
    inside();
    if TRIAL.get() == Trial::Cancel {
        WAITING.set(true);
        pending::<()>().await;
    }
    tokio::task::yield_now().await;
    KEY.with_borrow(|key| assert!(held(key), "`{key}` is not held after an await"));
}

/// The end of a body whose lock is checked inside: see [`inside`].
pub(crate) fn entered<T, E>(value: T) -> Result<T, E> {
    inside();
    Ok(value)
}

/// The end of an async body whose lock is checked inside: see [`pausing`].
pub(crate) async fn paused<T, E>(value: T) -> Result<T, E> {
    pausing().await;
    Ok(value)
}

/// A row of a table: the key of its lock, and what its body does when it should wait for ever.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) key: &'a str,
    body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Body {
    /// It waits, and can be cancelled.
    Waits,
    /// It has no await, so it just ends.
    EndsAtOnce,
}

impl<'a> From<&'a str> for Row<'a> {
    fn from(key: &'a str) -> Row<'a> {
        let body = Body::Waits;
        Row { key, body }
    }
}

/// The row of a function whose body has no await.
pub(crate) fn at_once(key: &str) -> Row<'_> {
    let body = Body::EndsAtOnce;
    Row { key, body }
}

/// Runs a function through every trial, and returns its last outcome.
pub(crate) async fn locks<'a, R>(row: impl Into<Row<'a>>, mut call: impl AsyncFnMut() -> R) -> R {
    let Row { key, body } = row.into();
    let _ = refused(key, call()).await;

    prepare(Trial::Panic, key);
    expect_asked(key, caught(call()).await);
    expect_free(key);

    prepare(Trial::Cancel, key);
    {
        let mut call = pin!(call());
        let found = poll_fn(|context| {
            if call.as_mut().poll(context).is_ready() {
                Poll::Ready(Body::EndsAtOnce)
            } else if WAITING.get() {
                Poll::Ready(Body::Waits)
            } else {
                Poll::Pending
            }
        })
        .await;
        assert_eq!(found, body, "the body of `{key}`");
        match body {
            Body::Waits => assert!(held(key), "`{key}` is not held while its body waits"),
            Body::EndsAtOnce => assert!(!held(key), "`{key}` is still held after the call"),
        }
    }
    expect_free(key);

    prepare(Trial::End, key);
    let outcome = call().await;
    assert!(ENTERED.get(), "`{key}`: the body did not run");
    assert!(!held(key), "`{key}` is still held after the call");
    outcome
}

/// The outcome, or the panic, of a call whose lock another holder has.
pub(crate) async fn refused<R>(key: &str, call: impl Future<Output = R>) -> thread::Result<R> {
    let elsewhere = prepare(Trial::Busy, key);
    let outcome = caught(call).await;
    assert!(!ENTERED.get(), "`{key}`: the body ran without the lock");
    drop(elsewhere);
    expect_free(key);
    outcome
}

/// The outcome while another holder has the lock, and the outcome of [`locks`].
pub(crate) async fn busy_and_free<'a, R>(
    row: impl Into<Row<'a>>,
    mut call: impl AsyncFnMut() -> R,
) -> [R; 2] {
    let row = row.into();
    let refused = refused(row.key, call()).await;
    let refused = refused.unwrap_or_else(|panic| resume_unwind(panic));
    [refused, locks(row, call).await]
}

fn client() -> &'static LockClient {
    static CLIENT: OnceLock<LockClient> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let builder = LockClient::builder().url("memory://");
        let client = builder.wait(Duration::ZERO).build().expect("it is valid");
        client.install().expect("no other test installs one");
        client
    })
}

/// A lock of another client, for a trial that needs it.
fn prepare(trial: Trial, key: &str) -> Option<lock_runtime::LockGuard> {
    expect_own(key);
    TRIAL.set(trial);
    KEY.set(key.to_owned());
    ENTERED.set(false);
    WAITING.set(false);
    let acquire = client().lock(key);
    let busy = trial == Trial::Busy;
    busy.then(|| acquire.acquire_blocking().expect("the lock is free"))
}

/// Fails if the rows of two tests share a key: they would disturb each other, but only when they happen to run at the
/// same moment. Each test has a thread of its own.
fn expect_own(key: &str) {
    static TESTS: LazyLock<Mutex<HashMap<String, ThreadId>>> = LazyLock::new(Mutex::default);
    let mut tests = TESTS.lock().expect("this assertion is made outside");
    let this = thread::current().id();
    let first = *tests.entry(key.to_owned()).or_insert(this);
    drop(tests);
    assert!(first == this, "another test has a row with the key `{key}`");
}

/// Whether the lock is held, asked from a call tree of its own.
pub(crate) fn held(key: &str) -> bool {
    let ask = client().lock(key);
    let asked = thread::spawn(move || match ask.try_acquire_blocking() {
        Ok(None) => true,
        Ok(Some(guard)) => guard.release_blocking().is_err(),
        Err(error) => panic!("{error}"),
    });
    asked.join().expect("the key is valid")
}

/// Waits until the lock is free: a dropped guard is released in the background.
fn expect_free(key: &str) {
    let ask = client().lock(key).wait(Duration::from_secs(10));
    let released = thread::spawn(move || ask.acquire_blocking()?.release_blocking());
    let released = released.join().expect("the key is valid");
    released.unwrap_or_else(|error| panic!("never released: {error}"));
}

fn expect_asked<R>(key: &str, outcome: thread::Result<R>) {
    match outcome {
        Ok(_) => panic!("`{key}`: the body did not run"),
        Err(panic) if panic.is::<Asked>() => (),
        Err(panic) => resume_unwind(panic),
    }
}

/// The future's output, or its panic.
async fn caught<F: Future>(future: F) -> thread::Result<F::Output> {
    let mut future = pin!(future);
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

/// Asserts what a call returns that [`locks`] its key.
macro_rules! assert_locks {
    ($key:expr, $call:expr, $expected:expr) => {{
        let outcome = $crate::functions::check::locks($key, async || $call).await;
        assert_eq!(outcome.unwrap(), $expected);
    }};
}

pub(crate) use assert_locks;
