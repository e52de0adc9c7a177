//! Attributes on the function and on its arguments, and the spellings of a key.

use lock_runtime::distributed_lock;

use crate::check::{AppError, inside, locks, locks_blocking, pausing};

type Answer = Result<u8, AppError>;

#[distributed_lock(key = "conditional:<id>")]
async fn conditional(
    #[cfg(any(unix, not(unix)))] id: u8,
    #[cfg(all(unix, not(unix)))] id: std::convert::Infallible,
    #[cfg(any())] absent: Absent,
    #[cfg_attr(all(), cfg(any()))] _absent_too: Absent,
    #[cfg_attr(all(), cfg(all()), allow(unused_variables))] _present: u8,
    #[allow(unused_variables)] unused: u8,
) -> Answer {
    pausing().await;
    Ok(id)
}

/// Has a documentation.
#[distributed_lock(key = "documented")]
/// On both sides.
#[must_use = "it may have failed"]
#[inline]
fn documented() -> Answer {
    //! And inside.
    #![allow(unused_variables)]
    let unused = 1;
    inside();
    Ok(1)
}

#[allow(clippy::unused_async, unused_mut)]
#[distributed_lock(key = "allowed")]
#[allow(unused_variables)]
async fn allowed(mut unused: u8) -> Answer {
    let also_unused = 1;
    pausing().await;
    Ok(1)
}

#[distributed_lock(key = "größe:<größe>/日本")]
async fn unicode(größe: u8) -> Answer {
    pausing().await;
    Ok(größe)
}

#[distributed_lock(key = r"raw\:<id>")]
async fn raw(id: u8) -> Answer {
    pausing().await;
    Ok(id)
}

#[distributed_lock(key = r#""quoted":<id>"#)]
fn quoted(id: u8) -> Answer {
    inside();
    Ok(id)
}

#[distributed_lock(key = "esc\x61ped\u{3a}<\u{69}d>\\")]
async fn escaped(id: u8) -> Answer {
    pausing().await;
    Ok(id)
}

#[distributed_lock(key = "long:\
                          <id>")]
fn continued(id: u8) -> Answer {
    inside();
    Ok(id)
}

#[distributed_lock(key = "<<<id>>>:{tag}")]
async fn angles(id: u8) -> Answer {
    pausing().await;
    Ok(id)
}

#[::lock_runtime::distributed_lock(key = "qualified")]
async fn qualified() -> Answer {
    pausing().await;
    Ok(1)
}

#[cfg_attr(any(unix, not(unix)), distributed_lock(key = "cfg_attr"))]
async fn cfg_attr() -> Answer {
    pausing().await;
    Ok(1)
}

#[tokio::test]
async fn every_attribute() {
    let answer = locks("conditional:1", async || conditional(1, 2, 3).await);
    assert_eq!(answer.await.unwrap(), 1);
    assert_eq!(locks_blocking("documented", documented).unwrap(), 1);
    let answer = locks("allowed", async || allowed(1).await);
    assert_eq!(answer.await.unwrap(), 1);
    let answer = locks("qualified", async || qualified().await);
    assert_eq!(answer.await.unwrap(), 1);
    let answer = locks("cfg_attr", async || cfg_attr().await);
    assert_eq!(answer.await.unwrap(), 1);
}

#[tokio::test]
async fn every_spelling_of_a_key() {
    let answer = locks("größe:1/日本", async || unicode(1).await);
    assert_eq!(answer.await.unwrap(), 1);
    let answer = locks(r"raw\:1", async || raw(1).await);
    assert_eq!(answer.await.unwrap(), 1);
    let answer = locks_blocking("\"quoted\":1", || quoted(1));
    assert_eq!(answer.unwrap(), 1);
    let answer = locks("escaped:1\\", async || escaped(1).await);
    assert_eq!(answer.await.unwrap(), 1);
    assert_eq!(locks_blocking("long:1", || continued(1)).unwrap(), 1);
    let answer = locks("<1>:{tag}", async || angles(1).await);
    assert_eq!(answer.await.unwrap(), 1);
}
