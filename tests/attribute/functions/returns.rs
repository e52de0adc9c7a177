//! Return types: a `Result` of any kind carries a failure of the lock; `or_else` handles other types.

use std::convert::Infallible;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::io;
use std::process::ExitCode;

use lock_runtime::{LockError, distributed_lock};

use super::check::{
    AppError, Row, at_once, busy_and_free, entered, inside, locks, paused, pausing, refused,
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

/// Asserts that the call fails as busy while another holds its lock, and otherwise returns 1.
async fn carries<'a, E>(
    row: impl Into<Row<'a>>,
    call: impl AsyncFnMut() -> Result<u8, E>,
    is_busy: impl FnOnce(E) -> bool,
) {
    let row = row.into();
    let [refused, ended] = busy_and_free(row, call).await;
    let key = row.key;
    assert!(refused.is_err_and(is_busy), "{key}");
    assert!(ended.is_ok_and(|value| value == 1), "{key}");
}

#[tokio::test]
async fn a_result_carries_the_failure() {
    let own = |error| matches!(error, AppError::Lock(error) if error.is_busy());
    let boxed_error = |error: Box<dyn Error>| error.is::<LockError>();
    carries("alias", async || alias().await, own).await;
    carries(at_once("whole"), async || whole(), |error| error.is_busy()).await;
    let call = async || boxed().await;
    // The closure coerces the box to one that is not `Send`.
    carries("boxed", call, |error| boxed_error(error)).await;
    carries(
        at_once("boxed blocking"),
        async || boxed_blocking(),
        boxed_error,
    )
    .await;
    let is_lock_error = |error: io::Error| error.get_ref().unwrap().is::<LockError>();
    carries("io", async || io().await, is_lock_error).await;
    carries("generic", async || generic::<AppError>().await, own).await;
    let opaque = async || Ok(opaque_result().await?.to_string().parse().unwrap());
    carries("opaque result", opaque, own).await;
    carries(at_once("Self::Error"), async || ().call(), own).await;
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
    busy_and_free("unit", async || unit().await).await;
    busy_and_free(at_once("unit blocking"), async || unit_blocking()).await;
    let options = busy_and_free("option", async || option().await).await;
    assert_eq!(options, [Some(0), Some(1)]);
    let [refused, ended] = busy_and_free("string", async || string().await).await;
    assert!(refused.starts_with("lock `string` is busy"), "{refused}");
    assert_eq!(ended, "held");
    let statuses = busy_and_free(at_once("status"), async || status()).await;
    assert_eq!(statuses, [ExitCode::FAILURE, ExitCode::SUCCESS]);
    let infallible = busy_and_free("infallible", async || infallible(1).await).await;
    assert_eq!(infallible, [Ok(1), Ok(2)]);
    let opaque = busy_and_free("opaque", async || opaque().await.to_string()).await;
    assert_eq!(opaque, ["0", "1"]);
    let tuples = busy_and_free(at_once("tuple"), async || tuple()).await;
    assert_eq!(tuples, [(0, [None; 2]), (1, [Some(2), None])]);
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
    busy_and_free("skip unit", async || skip_unit().await).await;
    let options = busy_and_free(at_once("skip option"), async || skip_option()).await;
    assert_eq!(options, [None, Some(1)]);
    let results = busy_and_free("skip result", async || skip_result().await).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let [skipped, ended] = busy_and_free("skip alias", async || skip_alias().await).await;
    assert_eq!((skipped.unwrap(), ended.unwrap()), (None, Some(1)));
    let results = busy_and_free(at_once("skip:1"), async || skip_only_if_busy("1")).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let error = skip_only_if_busy("").unwrap_err();
    assert!(
        matches!(error, AppError::Lock(_)),
        "an invalid key is no reason to skip"
    );
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
    let end = tokio::spawn(async { locks("never", async || never().await).await }).await;
    let call = async || never_blocking();
    let blocking = tokio::spawn(async move { locks(at_once("never blocking"), call).await }).await;
    for end in [end, blocking] {
        let panic = end.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"at its end"));
    }
    let panic = refused("never", never()).await.unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("is busy"));
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
    let order = Order { id: 7 };
    let id = locks(at_once("closure"), async || closure()).await;
    assert_eq!(id(&order), 7);
    let id = locks("async closure", async || async_closure(1).await).await;
    assert_eq!(id(&order), 8);
    let is = locks("closure in a result", async || {
        closure_in_a_result(&3).await
    });
    let mut is = is.await.unwrap();
    assert!(is(&3));
    assert!(!is(&3));
}
