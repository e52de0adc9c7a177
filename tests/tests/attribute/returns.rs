//! Return types: the body compiles as it would without the attribute, and a failure of the lock reaches
//! the caller.

use std::borrow::Cow;
use std::convert::Infallible;
use std::error::Error;
use std::fmt::Debug;
use std::io;
use std::process::ExitCode;

use lock_runtime::{LockClient, LockError, distributed_lock};

use super::AppError;

type Alias<T> = Result<T, AppError>;

fn busy() -> (LockClient, lock_runtime::LockGuard) {
    let locks = LockClient::memory();
    let guard = locks.lock("r").acquire_blocking().unwrap();
    (locks, guard)
}

mod carried {
    //! By a `Result` of some kind.
    use super::*;

    #[distributed_lock(key = "r", wait = "0s", client = locks)]
    pub(super) async fn alias(locks: &LockClient) -> Alias<u8> {
        Ok(1)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks)]
    pub(super) async fn boxed(locks: &LockClient) -> Result<u8, Box<dyn Error + Send + Sync>> {
        Err("own")?;
        Ok(1)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks)]
    pub(super) fn not_send(locks: &LockClient) -> Result<u8, Box<dyn Error>> {
        Ok("1".parse()?)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks)]
    pub(super) fn io(locks: &LockClient) -> io::Result<u8> {
        Ok(1)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks)]
    pub(super) async fn generic<E: From<LockError>>(locks: &LockClient) -> Result<u8, E> {
        Ok(1)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks)]
    pub(super) async fn opaque(locks: &LockClient) -> Result<impl Debug + use<>, AppError> {
        if locks.lock("other").try_acquire_blocking()?.is_none() {
            return Err(AppError::Own);
        }
        Ok(1)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks)]
    pub(super) fn itself(locks: &LockClient) -> Result<u8, LockError> {
        Ok(1)
    }

    pub(super) trait Service {
        type Error;
        fn call(&self, locks: &LockClient) -> Result<u8, Self::Error>;
    }

    impl Service for () {
        type Error = AppError;

        #[distributed_lock(key = "r", wait = "0s", client = locks)]
        fn call(&self, locks: &LockClient) -> Result<u8, Self::Error> {
            Ok(1)
        }
    }
}

#[tokio::test]
async fn every_kind_of_result_carries_the_failure() {
    use carried::Service;
    let (locks, guard) = busy();
    assert!(matches!(
        carried::alias(&locks).await,
        Err(AppError::Lock(_))
    ));
    assert!(carried::boxed(&locks).await.unwrap_err().is::<LockError>());
    assert!(carried::not_send(&locks).unwrap_err().is::<LockError>());
    let io = carried::io(&locks).unwrap_err();
    assert!(io.get_ref().unwrap().is::<LockError>());
    assert!(
        carried::generic::<LockError>(&locks)
            .await
            .unwrap_err()
            .is_busy()
    );
    assert!(matches!(
        carried::opaque(&locks).await,
        Err(AppError::Lock(_))
    ));
    assert!(carried::itself(&locks).unwrap_err().is_busy());
    assert!(matches!(().call(&locks), Err(AppError::Lock(_))));

    guard.release().await.unwrap();
    assert_eq!(carried::alias(&locks).await.unwrap(), 1);
    assert_eq!(carried::boxed(&locks).await.unwrap_err().to_string(), "own");
    assert_eq!(carried::not_send(&locks).unwrap(), 1);
    assert_eq!(format!("{:?}", carried::opaque(&locks).await.unwrap()), "1");
    assert_eq!(().call(&locks).unwrap(), 1);
}

mod otherwise {
    //! With `or_else`.
    use super::*;

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = |_| ())]
    pub(super) async fn unit(locks: &LockClient, ran: &mut bool) {
        *ran = true;
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = |error| { assert!(error.is_busy()); None })]
    pub(super) fn option(locks: &LockClient) -> Option<u8> {
        Some(1)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = |error| error.to_string())]
    pub(super) async fn string(locks: &LockClient) -> String {
        if locks.lock("other").try_acquire().await.is_err() {
            return "unreachable".into();
        }
        "ran".into()
    }

    fn answer(_: LockError) -> ExitCode {
        ExitCode::FAILURE
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = answer)]
    pub(super) fn by_path(locks: &LockClient) -> ExitCode {
        ExitCode::SUCCESS
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = |error| panic!("{error}"))]
    pub(super) async fn never(locks: &LockClient) -> ! {
        panic!("ran")
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = |error| panic!("{error}"))]
    pub(super) fn never_blocking(locks: &LockClient) -> ! {
        panic!("ran")
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = |_| vec![0].into_iter())]
    pub(super) fn opaque(locks: &LockClient) -> impl Iterator<Item = u8> + use<> {
        vec![1, 2].into_iter()
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, or_else = |_| Ok(fallback))]
    pub(super) fn with_an_argument(locks: &LockClient, fallback: u8) -> Result<u8, Infallible> {
        Ok(1)
    }
}

#[tokio::test]
async fn or_else_handles_every_other_type() {
    let (locks, guard) = busy();
    let mut ran = false;
    otherwise::unit(&locks, &mut ran).await;
    assert!(!ran);
    assert_eq!(otherwise::option(&locks), None);
    assert!(
        otherwise::string(&locks)
            .await
            .starts_with("lock `r` is busy")
    );
    assert_eq!(otherwise::by_path(&locks), ExitCode::FAILURE);
    assert_eq!(otherwise::opaque(&locks).collect::<Vec<_>>(), [0]);
    assert_eq!(otherwise::with_an_argument(&locks, 9), Ok(9));
    let never = {
        let locks = locks.clone();
        tokio::spawn(async move { otherwise::never(&locks).await })
    };
    let panic = never.await.unwrap_err().into_panic();
    assert!(panic.downcast_ref::<String>().unwrap().contains("is busy"));

    guard.release().await.unwrap();
    otherwise::unit(&locks, &mut ran).await;
    assert!(ran);
    assert_eq!(otherwise::option(&locks), Some(1));
    assert_eq!(otherwise::string(&locks).await, "ran");
    assert_eq!(otherwise::by_path(&locks), ExitCode::SUCCESS);
    assert_eq!(otherwise::opaque(&locks).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(otherwise::with_an_argument(&locks, 9), Ok(1));
    let never = std::thread::spawn(move || otherwise::never_blocking(&locks));
    let panic = never.join().unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"ran"));
}

mod skipped {
    //! With `on_busy = "skip"`.
    use super::*;

    #[distributed_lock(key = "r", wait = "0s", client = locks, on_busy = "skip", or_else = |error| panic!("{error}"))]
    pub(super) async fn unit(locks: &LockClient, ran: &mut bool) {
        *ran = true;
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, on_busy = "skip", or_else = |_| Some(0))]
    pub(super) fn option(locks: &LockClient) -> Option<u8> {
        Some(1)
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, on_busy = "skip")]
    pub(super) async fn result(locks: &LockClient, ran: &mut bool) -> Result<(), AppError> {
        *ran = true;
        Ok(())
    }

    #[distributed_lock(key = "r", wait = "0s", client = locks, on_busy = "skip")]
    pub(super) async fn alias(locks: &LockClient) -> Alias<Option<u8>> {
        Ok(Some(1))
    }

    #[distributed_lock(key = "<bad>", wait = "0s", client = locks, on_busy = "skip")]
    pub(super) fn only_busy(locks: &LockClient, bad: &str) -> Alias<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_busy_lock_skips_the_call() {
    let (locks, guard) = busy();
    let mut ran = false;
    skipped::unit(&locks, &mut ran).await;
    assert_eq!(skipped::option(&locks), None);
    skipped::result(&locks, &mut ran).await.unwrap();
    assert_eq!(skipped::alias(&locks).await.unwrap(), None);
    assert!(!ran);
    assert!(
        matches!(skipped::only_busy(&locks, ""), Err(AppError::Lock(_))),
        "a key that is not valid is no reason to skip"
    );

    guard.release().await.unwrap();
    skipped::unit(&locks, &mut ran).await;
    assert!(ran);
    assert_eq!(skipped::alias(&locks).await.unwrap(), Some(1));
}

mod coerced {
    //! Early returns that only compile because the return type is known.
    use super::*;

    #[distributed_lock(key = "r", client = locks, or_else = |_| Box::new(0))]
    pub(super) async fn trait_object(locks: &LockClient, early: bool) -> Box<dyn Debug> {
        if early {
            return Box::new(1_u8);
        }
        Box::new("two")
    }

    fn one() -> u8 {
        1
    }

    fn two() -> u8 {
        2
    }

    #[distributed_lock(key = "r", client = locks, or_else = |_| one)]
    pub(super) fn pointer(locks: &LockClient, early: bool) -> fn() -> u8 {
        if early {
            return one;
        }
        two
    }

    #[distributed_lock(key = "r", client = locks)]
    pub(super) async fn inferred(locks: &LockClient, early: bool) -> Alias<Vec<u8>> {
        if early {
            return "1,2"
                .split(',')
                .map(|part| part.parse().map_err(|_| AppError::Own))
                .collect();
        }
        Ok([3].into())
    }

    #[distributed_lock(key = "r", client = locks, or_else = |_| Cow::Borrowed("lock"))]
    pub(super) async fn borrowed<'a>(locks: &LockClient, text: &'a str) -> Cow<'a, str> {
        if text.is_empty() {
            return "empty".into();
        }
        text.into()
    }
}

#[tokio::test]
async fn early_returns_coerce() {
    let locks = LockClient::memory();
    assert_eq!(
        format!("{:?}", coerced::trait_object(&locks, true).await),
        "1"
    );
    assert_eq!(
        format!("{:?}", coerced::trait_object(&locks, false).await),
        "\"two\""
    );
    assert_eq!(coerced::pointer(&locks, true)(), 1);
    assert_eq!(coerced::pointer(&locks, false)(), 2);
    assert_eq!(coerced::inferred(&locks, true).await.unwrap(), [1, 2]);
    assert_eq!(coerced::inferred(&locks, false).await.unwrap(), [3]);
    assert_eq!(coerced::borrowed(&locks, "").await, "empty");
    assert_eq!(coerced::borrowed(&locks, "text").await, "text");
}

#[tokio::test]
async fn a_return_inside_other_macros() {
    #[distributed_lock(key = "r", client = locks)]
    #[expect(
        clippy::needless_return,
        reason = "as in the function without the attribute"
    )]
    async fn selecting(locks: &LockClient) -> Alias<u8> {
        macro_rules! give_up {
            () => {
                return Ok(2)
            };
        }
        tokio::select! {
            biased;
            () = std::future::ready(()) => return Ok(1),
            () = std::future::pending() => give_up!(),
        }
    }

    assert_eq!(selecting(&LockClient::memory()).await.unwrap(), 1);
}
