//! What a call returns.

use lock_runtime::{LockClient, LockError, distributed_lock};

use super::outlast;

#[derive(Debug)]
enum ShipError {
    Lock(LockError),
    NoStock,
}

impl From<LockError> for ShipError {
    fn from(error: LockError) -> ShipError {
        ShipError::Lock(error)
    }
}

#[distributed_lock(key = "order:42", ttl = "100ms", renew = false, guard = lock, client = locks)]
async fn ship(locks: &LockClient, in_stock: bool) -> Result<(), ShipError> {
    outlast(lock);
    if in_stock {
        Ok(())
    } else {
        Err(ShipError::NoStock)
    }
}

/// A body that blocked beyond its lease and then failed was reported as lost, without its own error.
#[tokio::test]
async fn an_async_body_that_outlasts_its_lease_keeps_its_own_error() {
    let locks = LockClient::memory();
    let failed = ship(&locks, false).await;
    assert!(matches!(failed, Err(ShipError::NoStock)), "{failed:?}");
    let lost = ship(&locks, true).await;
    assert!(
        matches!(&lost, Err(ShipError::Lock(error)) if error.is_lost()),
        "{lost:?}"
    );
}
