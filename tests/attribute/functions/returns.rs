//! Return types: a `Result` of any kind carries a failure of the lock; `or_else` handles other types.

use std::convert::Infallible;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::io;
use std::process::ExitCode;

use lock_runtime::{LockError, distributed_lock};

use super::check::{
    AppError, assert_locks, assert_locks_blocking, entered, inside, locks, locks_blocking, paused,
    pausing, refused, refused_blocking,
};

type Alias<T, E = AppError> = std::result::Result<T, E>;
type Whole = Result<u8, LockError>;
type Boxed = Box<dyn Error + Send + Sync + 'static>;

#[distributed_lock(key = "alias")]
async fn alias() -> Alias<u8> {
    paused(1).await
}

#[distributed_lock(key = "whole")]
fn whole() -> Whole {
    entered(1)
}

#[distributed_lock(key = "boxed")]
async fn boxed() -> Result<u8, Boxed> {
    paused("1".parse()?).await
}

#[distributed_lock(key = "boxed blocking")]
fn boxed_blocking() -> Result<u8, Box<dyn Error>> {
    entered("1".parse()?)
}

#[distributed_lock(key = "io")]
async fn io() -> io::Result<u8> {
    paused(1).await
}

#[distributed_lock(key = "generic")]
async fn generic<E>() -> Result<u8, E>
where
    E: From<LockError>,
{
    paused(1).await
}

#[distributed_lock(key = "opaque result")]
async fn opaque_result() -> Result<impl Display + Debug, AppError> {
    paused(1).await
}

trait Fallible {
    type Error: From<LockError> + Debug;

    #[distributed_lock(key = "Self::Error")]
    fn call(&self) -> Result<u8, Self::Error> {
        entered(1)
    }
}

impl Fallible for () {
    type Error = AppError;
}

#[tokio::test]
async fn a_result_carries_the_failure() {
    {
        fn is_busy<T>(outcome: Result<T, AppError>) -> bool {
            matches!(outcome, Err(AppError::Lock(error)) if error.is_busy())
        }
        assert!(is_busy(refused("alias", async || alias().await).await));
        assert!(refused_blocking("whole", whole).unwrap_err().is_busy());
        let error = refused("boxed", async || boxed().await).await.unwrap_err();
        assert!(error.is::<LockError>());
        let error = refused_blocking("boxed blocking", boxed_blocking).unwrap_err();
        assert!(error.is::<LockError>());
        let error = refused("io", async || io().await).await.unwrap_err();
        assert!(error.get_ref().unwrap().is::<LockError>());
        let generic = refused("generic", async || generic::<AppError>().await);
        assert!(is_busy(generic.await));
        let opaque = refused("opaque result", async || opaque_result().await).await;
        assert!(is_busy(opaque));
        assert!(is_busy(refused_blocking("Self::Error", || ().call())));
    }

    assert_locks!("alias", alias(), 1);
    assert_locks_blocking!("whole", whole(), 1);
    assert_locks!("boxed", boxed(), 1);
    assert_locks_blocking!("boxed blocking", boxed_blocking(), 1);
    assert_locks!("io", io(), 1);
    assert_locks!("generic", generic::<AppError>(), 1);
    let opaque = locks("opaque result", async || opaque_result().await).await;
    assert_eq!(opaque.unwrap().to_string(), "1");
    assert_locks_blocking!("Self::Error", ().call(), 1);
}

#[distributed_lock(key = "unit", or_else = |error| drop(error))]
async fn unit() {
    pausing().await;
}

#[distributed_lock(key = "unit blocking", or_else = drop)]
fn unit_blocking() {
    inside()
}

#[distributed_lock(key = "option", or_else = |error| error.is_busy().then_some(0))]
async fn option() -> Option<u8> {
    pausing().await;
    Some(1)
}

#[distributed_lock(key = "string", or_else = |error| error.to_string())]
async fn string() -> String {
    pausing().await;
    "held".into()
}

#[distributed_lock(key = "status", or_else = failure)]
fn status() -> ExitCode {
    inside();
    ExitCode::SUCCESS
}

fn failure(_: LockError) -> ExitCode {
    ExitCode::FAILURE
}

#[distributed_lock(key = "infallible", or_else = |_| Ok(fallback))]
async fn infallible(fallback: u8) -> Result<u8, Infallible> {
    paused(fallback + 1).await
}

#[distributed_lock(key = "opaque", or_else = |_| 0)]
async fn opaque() -> impl Display {
    pausing().await;
    1
}

#[distributed_lock(key = "tuple", or_else = |_| (0, [None; 2]))]
fn tuple() -> (u8, [Option<u8>; 2]) {
    inside();
    (1, [Some(2), None])
}

#[tokio::test]
async fn or_else_handles_other_types() {
    {
        refused("unit", async || unit().await).await;
        refused_blocking("unit blocking", unit_blocking);
        assert_eq!(refused("option", async || option().await).await, Some(0));
        let string = refused("string", async || string().await).await;
        assert!(string.starts_with("lock `string` is busy"), "{string}");
        assert_eq!(refused_blocking("status", status), ExitCode::FAILURE);
        let infallible = refused("infallible", async || infallible(1).await).await;
        assert_eq!(infallible, Ok(1));
        let opaque = refused("opaque", async || opaque().await).await;
        assert_eq!(opaque.to_string(), "0");
        assert_eq!(refused_blocking("tuple", tuple), (0, [None; 2]));
    }

    locks("unit", async || unit().await).await;
    locks_blocking("unit blocking", unit_blocking);
    assert_eq!(locks("option", async || option().await).await, Some(1));
    assert_eq!(locks("string", async || string().await).await, "held");
    assert_eq!(locks_blocking("status", status), ExitCode::SUCCESS);
    let infallible = locks("infallible", async || infallible(1).await).await;
    assert_eq!(infallible, Ok(2));
    let opaque = locks("opaque", async || opaque().await).await;
    assert_eq!(opaque.to_string(), "1");
    assert_eq!(locks_blocking("tuple", tuple), (1, [Some(2), None]));
}

#[distributed_lock(key = "skip unit", on_busy = "skip", or_else = |error| panic!("{error}"))]
async fn skip_unit() {
    pausing().await;
}

#[distributed_lock(key = "skip option", on_busy = "skip", or_else = |_| Some(0))]
fn skip_option() -> Option<u8> {
    inside();
    Some(1)
}

#[distributed_lock(key = "skip result", on_busy = "skip")]
async fn skip_result() -> Result<(), AppError> {
    paused(()).await
}

#[distributed_lock(key = "skip alias", on_busy = "skip")]
async fn skip_alias() -> Alias<Option<u8>> {
    paused(Some(1)).await
}

#[distributed_lock(key = "skip:<id>", on_busy = "skip")]
fn skip_only_if_busy(id: &str) -> Alias<()> {
    entered(())
}

#[tokio::test]
async fn a_busy_lock_skips_the_call() {
    refused("skip unit", async || skip_unit().await).await;
    assert_eq!(refused_blocking("skip option", skip_option), None);
    refused("skip result", async || skip_result().await)
        .await
        .unwrap();
    let skipped = refused("skip alias", async || skip_alias().await).await;
    assert_eq!(skipped.unwrap(), None);
    refused_blocking("skip:1", || skip_only_if_busy("1")).unwrap();
    let error = skip_only_if_busy("").unwrap_err();
    assert!(
        matches!(error, AppError::Lock(_)),
        "an invalid key is no reason to skip"
    );

    locks("skip unit", async || skip_unit().await).await;
    assert_eq!(locks_blocking("skip option", skip_option), Some(1));
    locks("skip result", async || skip_result().await)
        .await
        .unwrap();
    assert_locks!("skip alias", skip_alias(), Some(1));
}

#[distributed_lock(key = "never", or_else = |error| panic!("{error}"))]
async fn never() -> ! {
    pausing().await;
    panic!("at its end")
}

#[distributed_lock(key = "never blocking", or_else = |error| panic!("{error}"))]
fn never_blocking() -> ! {
    inside();
    panic!("at its end")
}

#[tokio::test]
async fn functions_that_never_return_panic() {
    let end = tokio::spawn(async { locks("never", async || never().await).await });
    let panic = end.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"at its end"));
    let end = tokio::spawn(async { refused("never", async || never().await).await });
    let panic = end.await.unwrap_err().into_panic();
    assert!(panic.downcast_ref::<String>().unwrap().contains("is busy"));
    let end = std::panic::catch_unwind(|| locks_blocking("never blocking", || never_blocking()));
    let panic = end.unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"at its end"));
}

struct Order {
    id: u8,
}

#[distributed_lock(key = "closure", or_else = |_| panic!("busy"))]
fn closure() -> impl Fn(&Order) -> u8 {
    inside();
    |order| order.id
}

#[distributed_lock(key = "async closure", or_else = |_| panic!("busy"))]
async fn async_closure(by: u8) -> impl Fn(&Order) -> u8 + Send {
    pausing().await;
    if by == 0 {
        panic!("not by nothing");
    }
    move |order| order.id + by
}

#[distributed_lock(key = "closure in a result")]
async fn closure_in_a_result<'a, T: PartialEq>(
    wanted: &'a T,
) -> Result<impl FnMut(&T) -> bool + 'a, AppError> {
    pausing().await;
    let mut seen = 0;
    Ok(move |found| {
        seen += 1;
        seen == 1 && wanted.eq(found)
    })
}

#[tokio::test]
async fn a_returned_closure_knows_its_arguments() {
    let id = locks_blocking("closure", closure);
    assert_eq!(id(&Order { id: 7 }), 7);
    let id = locks("async closure", async || async_closure(1).await).await;
    assert_eq!(id(&Order { id: 7 }), 8);
    let is = locks("closure in a result", async || {
        closure_in_a_result(&3).await
    });
    let mut is = is.await.unwrap();
    assert!(is(&3));
    assert!(!is(&3));
}
