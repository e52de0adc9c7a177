//! Attributes on the function and on its arguments.

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, at_once, entered, paused};

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
    paused(id).await
}

/// Has documentation.
#[distributed_lock(key = "documented")]
/// On both sides.
#[must_use = "it may have failed"]
#[inline]
fn documented() -> Answer {
    //! And inside.
    #![allow(unused_variables)]
    let unused = 1;
    entered(1)
}

#[allow(clippy::unused_async, unused_mut)]
#[distributed_lock(key = "allowed")]
#[allow(unused_variables)]
async fn allowed(mut unused: u8) -> Answer {
    let also_unused = 1;
    paused(1).await
}

#[cfg_attr(any(unix, not(unix)), distributed_lock(key = "cfg_attr"))]
async fn cfg_attr() -> Answer {
    paused(1).await
}

#[tokio::test]
async fn every_attribute() {
    assert_locks!("conditional:1", conditional(1, 2, 3).await, 1);
    assert_locks!(at_once("documented"), documented(), 1);
    assert_locks!("allowed", allowed(1).await, 1);
    assert_locks!("cfg_attr", cfg_attr().await, 1);
}
