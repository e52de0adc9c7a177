//! Values that leave a body early or at its end, and compile only because the return type is known at that place.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::future::Future;

use lock_runtime::distributed_lock;

use super::check::{AppError, at_once, inside, locks, pausing};

#[distributed_lock(key = "trait object", or_else = |error| Box::new(error))]
async fn trait_object(early: bool) -> Box<dyn Debug> {
    pausing().await;
    if early {
        return Box::new(1);
    }
    Box::new("late")
}

#[distributed_lock(key = "trait object in a result")]
fn trait_object_in_a_result(early: bool) -> Result<Box<dyn Debug>, AppError> {
    inside();
    if early {
        return Ok(Box::new(1));
    }
    Ok(Box::new("late"))
}

fn one() -> u8 {
    1
}

fn two() -> u8 {
    2
}

#[distributed_lock(key = "pointer", or_else = |_| one)]
async fn pointer(early: bool) -> fn() -> u8 {
    pausing().await;
    if early {
        return one;
    }
    two
}

#[distributed_lock(key = "closure pointer", or_else = |_| || 0)]
fn closure_pointer(early: bool) -> fn() -> u8 {
    inside();
    if early {
        return || 1;
    }
    || 2
}

#[distributed_lock(key = "into", or_else = |error| error.to_string().into())]
async fn into(early: bool) -> Cow<'static, str> {
    pausing().await;
    if early {
        return "early".into();
    }
    "late".into()
}

#[distributed_lock(key = "collect")]
async fn collect(early: bool) -> Result<BTreeSet<u8>, Box<dyn Error + Send + Sync>> {
    pausing().await;
    if early {
        return Ok("1,2".split(',').map(str::parse).collect::<Result<_, _>>()?);
    }
    Ok([3].into_iter().collect())
}

/// The attribute does not see this `return`.
macro_rules! leave {
    ($value:expr) => {
        return $value
    };
}

#[distributed_lock(key = "slice", or_else = |_| &[])]
fn slice(early: bool) -> &'static [u8] {
    inside();
    if early {
        leave!(&[1]);
    }
    &[2, 3]
}

#[distributed_lock(key = "default")]
fn default(early: bool) -> impl Future<Output = Result<Vec<u8>, AppError>> {
    async move {
        pausing().await;
        if early {
            return Ok(Default::default());
        }
        Err(AppError::Own)?
    }
}

#[tokio::test]
async fn early_and_late_returns_coerce() {
    for early in [true, false] {
        let expected = if early { "1" } else { "\"late\"" };
        let object = locks("trait object", async || trait_object(early).await).await;
        assert_eq!(format!("{object:?}"), expected);
        let object = locks(at_once("trait object in a result"), async || {
            trait_object_in_a_result(early)
        })
        .await;
        assert_eq!(format!("{:?}", object.unwrap()), expected);

        let expected = if early { 1 } else { 2 };
        let pointer = locks("pointer", async || pointer(early).await).await;
        assert_eq!(pointer(), expected);
        let pointer = locks(at_once("closure pointer"), async || closure_pointer(early)).await;
        assert_eq!(pointer(), expected);

        let text = locks("into", async || into(early).await).await;
        assert_eq!(text, if early { "early" } else { "late" });
        let set = locks("collect", async || collect(early).await).await;
        let expected: &[u8] = if early { &[1, 2] } else { &[3] };
        assert!(set.unwrap().iter().eq(expected));
        let slice = locks(at_once("slice"), async || slice(early)).await;
        assert_eq!(slice, if early { &[1][..] } else { &[2, 3] });
        let default = locks("default", async || default(early).await).await;
        assert_eq!(default.is_ok(), early);
        assert!(early || matches!(default, Err(AppError::Own)));
    }
}
