//! The same function under the same lock, by attribute and by hand.

use lock_runtime::{LockClient, LockError, distributed_lock};

#[distributed_lock(key = "order:<id>", client = client)]
pub(crate) async fn by_attribute(client: &LockClient, id: u64) -> Result<u64, LockError> {
    Ok(id)
}

pub(crate) async fn by_hand(client: &LockClient, id: u64) -> Result<u64, LockError> {
    let guard = client.lock(format!("order:{id}")).acquire().await?;
    let shipped = id;
    guard.release().await?;
    Ok(shipped)
}
