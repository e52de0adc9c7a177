//! The led lock's failure is recognised in any error type, and no other failure is taken for it.

use std::cell::Cell;
use std::future::{IntoFuture, pending};
use std::time::Duration;

use harness::failed;
use lock_runtime::{
    LockClient, LockError, LockErrorKind, LockGuard, campaign, distributed_lock, testing,
};

const KEY: &str = "leader";

/// The lock is lost in the first call's body, and the second call's body returns.
macro_rules! leads_again {
    ($($test:ident: $error:ty;)+) => {$(
        #[tokio::test(start_paused = true)]
        async fn $test() {
            #[distributed_lock(key = KEY, client = locks)]
            async fn lead(locks: &LockClient, calls: u32) -> Result<u32, $error> {
                if calls == 1 {
                    testing::lose(locks, KEY)?;
                    pending::<()>().await;
                }
                Ok(calls)
            }
            let locks = LockClient::memory();
            let mut calls = 0;
            let ended = campaign(|| {
                calls += 1;
                lead(&locks, calls)
            });
            assert_eq!(ended.await.unwrap(), Some(2));

            #[distributed_lock(key = KEY, wait = "0s", client = locks)]
            async fn stand(locks: &LockClient) -> Result<(), $error> {
                Ok(())
            }
            let occupied = testing::occupy(&locks, KEY, "api-7").unwrap();
            let (mut occupied, mut calls) = (Some(occupied), 0);
            let ended = campaign(|| {
                calls += 1;
                if calls == 3 {
                    occupied = None;
                }
                stand(&locks)
            });
            assert!(ended.await.unwrap().is_some());
            assert_eq!(calls, 3);
        }
    )+};
}

leads_again! {
    lock_error_itself: LockError;
    source_of_an_error: Sourced;
    error_inside_an_io_error: std::io::Error;
    transparent_variant_that_hides_it: Transparent;
    message_alone: Message;
}

#[derive(Debug)]
struct Sourced(LockError);

impl std::fmt::Display for Sourced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it cannot lead")
    }
}

impl std::error::Error for Sourced {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<LockError> for Sourced {
    fn from(error: LockError) -> Sourced {
        Sourced(error)
    }
}

/// As `#[error(transparent)]` of thiserror makes it.
#[derive(Debug)]
struct Transparent(LockError);

impl std::fmt::Display for Transparent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Transparent {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl From<LockError> for Transparent {
    fn from(error: LockError) -> Transparent {
        Transparent(error)
    }
}

#[derive(Debug, PartialEq)]
struct Message(String);

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Message {}

impl From<LockError> for Message {
    fn from(error: LockError) -> Message {
        Message(error.to_string())
    }
}

/// An error without `std::error::Error`, as anyhow's is.
#[derive(Debug)]
struct Opaque(Option<LockError>);

impl From<LockError> for Opaque {
    fn from(error: LockError) -> Opaque {
        Opaque(Some(error))
    }
}

#[distributed_lock(key = KEY, client = locks)]
async fn lead_and_take(locks: &LockClient, calls: u32) -> Result<u32, Opaque> {
    if calls == 1 {
        testing::lose(locks, KEY)?;
        pending::<()>().await;
    }
    drop(locks.lock("inner").wait(Duration::ZERO).acquire().await?);
    Ok(calls)
}

#[tokio::test(start_paused = true)]
async fn error_that_is_told_by_the_program() {
    let locks = LockClient::memory();
    let inner = testing::occupy(&locks, "inner", "api-7").unwrap();
    let mut calls = 0;
    let ended = campaign(|| {
        calls += 1;
        lead_and_take(&locks, calls)
    });
    let ended = ended.lock_error(|error: &Opaque| error.0.as_ref()).await;
    let Opaque(inside) = ended.unwrap_err();
    assert_eq!(inside.unwrap().key(), Some("inner"));
    assert_eq!(calls, 2);
    drop(inner);
}

/// Although its lock was busy.
#[tokio::test(start_paused = true)]
async fn error_that_the_program_takes_for_its_own_ends_the_campaign() {
    let locks = LockClient::memory();
    let _occupied = testing::occupy(&locks, KEY, "api-7").unwrap();
    let mut calls = 0;
    let ended = campaign(|| {
        calls += 1;
        let stand = locks.lock(KEY).wait(Duration::ZERO).run(async |_| ());
        async move {
            match calls {
                1 => stand.await.map_err(Opaque::from),
                _ => Ok(()),
            }
        }
    });
    let ended = ended.lock_error(|_: &Opaque| None).await;
    assert!(ended.is_err(), "it stood again");
}

/// Of each kind that a campaign stands again for, while the led lock is held, by a body or by a guard.
#[tokio::test(start_paused = true)]
async fn failures_of_the_body_end_the_campaign() {
    let (locks, other) = (LockClient::memory(), LockClient::memory());
    let _away = testing::disconnect(&other).unwrap();
    let _occupied = testing::occupy(&locks, "inner", "api-7").unwrap();
    let busy = async || locks.lock("inner").wait(Duration::ZERO).acquire().await;
    let away = async || other.lock("inner").wait(Duration::ZERO).acquire().await;
    let lost = async || {
        let body = async |_: &LockGuard| {
            testing::lose(&locks, "second").unwrap();
            pending::<()>().await;
        };
        locks
            .lock("second")
            .run(body)
            .await
            .map(|()| unreachable!())
    };
    let spawned = async || {
        let call = locks.lock("inner").wait(Duration::ZERO).acquire();
        tokio::spawn(call).await.unwrap()
    };
    macro_rules! ends {
        ($body:expr, $kind:ident) => {{
            let led = async || locks.lock(KEY).run(async |_| $body().await).await?;
            let guarded = async || {
                let _leading = locks.lock(KEY).acquire().await?;
                $body().await
            };
            for (ended, calls) in [only_call(led).await, only_call(guarded).await] {
                assert_eq!(calls, 1, stringify!($body));
                failed(ended, LockErrorKind::$kind);
            }
        }};
    }
    ends!(busy, Busy);
    ends!(away, Unavailable);
    ends!(lost, Lost);
    ends!(spawned, Busy);
}

/// Ends a campaign for this function with its first call, or at the second. Returns the number of calls as well.
async fn only_call<T>(
    lead: impl AsyncFn() -> Result<T, LockError>,
) -> (Result<(), LockError>, u32) {
    let calls = Cell::new(0);
    let ended = campaign(async || {
        calls.set(calls.get() + 1);
        match calls.get() {
            1 => lead().await.map(drop),
            _ => Ok(()),
        }
    });
    let ended = ended.await.map(|_| ());
    (ended, calls.get())
}

/// Its own error, although the lock is lost as well.
#[tokio::test(start_paused = true)]
async fn error_of_a_body_that_has_lost_its_lock_is_the_bodys() {
    let locks = LockClient::memory();
    let ended = campaign(|| async {
        let guard = locks.lock(KEY).acquire().await.map_err(Message::from)?;
        testing::lose(&locks, KEY).map_err(Message::from)?;
        drop(guard);
        Err::<(), _>(Message("no tick".to_owned()))
    });
    assert_eq!(ended.await.unwrap_err(), Message("no tick".to_owned()));
}

/// Only the guard knows of the loss.
#[tokio::test(start_paused = true)]
async fn loss_that_a_guard_reports_is_stood_for() {
    let locks = LockClient::memory();
    let mut calls = 0;
    let ended = campaign(|| {
        calls += 1;
        let calls = calls;
        let locks = &locks;
        async move {
            let guard = locks.lock(KEY).acquire().await?;
            match calls {
                1 => testing::lose(locks, KEY)?,
                2 => {
                    testing::lose(locks, KEY)?;
                    guard.renew().await?;
                }
                _ => {}
            }
            guard.release().await
        }
    });
    assert!(ended.await.unwrap().is_some());
    assert_eq!(calls, 3);
}

#[distributed_lock(key = KEY, wait = "0s", on_busy = "skip", client = locks)]
async fn skips(locks: &LockClient) -> Result<Option<u32>, LockError> {
    Ok(Some(7))
}

/// A call that skipped has not led.
#[tokio::test(start_paused = true)]
async fn call_that_skips_stands_again() {
    let locks = LockClient::memory();
    let mut occupied = Some(testing::occupy(&locks, KEY, "api-7").unwrap());
    let mut calls = 0;
    let ended = campaign(|| {
        calls += 1;
        if calls == 3 {
            occupied = None;
        }
        skips(&locks)
    });
    assert_eq!(ended.await.unwrap(), Some(Some(7)));
    assert_eq!(calls, 3);
}

/// A call that has led may find other locks busy.
#[tokio::test(start_paused = true)]
async fn value_of_a_call_that_has_led_ends_the_campaign() {
    let locks = LockClient::memory();
    let _occupied = testing::occupy(&locks, "other", "api-7").unwrap();
    let mut calls = 0;
    let ended = campaign(|| {
        calls += 1;
        async {
            locks.lock(KEY).run(async |_| ()).await?;
            let other = locks.lock("other").try_acquire().await?;
            Ok::<_, LockError>(other.is_some())
        }
    });
    assert_eq!(ended.await.unwrap(), Some(false));
    assert_eq!(calls, 1);
}

/// A program with a wrong key, or a client that is shut down, would fail for ever.
#[tokio::test(start_paused = true)]
async fn failure_for_good_ends_the_campaign() {
    let locks = LockClient::memory();
    let ended = campaign(|| locks.lock("").run(async |_| ())).await;
    failed(ended, LockErrorKind::InvalidKey);
    let _occupied = testing::occupy(&locks, KEY, "api-7").unwrap();
    let standing = tokio::spawn({
        let locks = locks.clone();
        campaign(move || {
            locks
                .lock(KEY)
                .wait(Duration::from_secs(60))
                .run(async |_| ())
        })
        .into_future()
    });
    tokio::task::yield_now().await;
    locks.shutdown().await;
    failed(standing.await.unwrap(), LockErrorKind::Shutdown);
}
