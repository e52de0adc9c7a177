//! Functions in a scope where every type has methods called like those that generated code needs.

use lock_runtime::{LockError, distributed_lock};

use super::check::{assert_locks, at_once, entered, paused};

#[rustfmt::skip]
#[allow(dead_code)]
trait Blanket {
    fn acquire(&self) {}
    fn acquire_blocking(&self) {}
    fn acquire_installed(&self) {}
    fn acquire_installed_blocking(&self) {}
    fn acquired(&self) {}
    fn ask(&self) {}
    fn drive(&self) {}
    fn failed(&self) {}
    fn from_lock_error(&self) {}
    fn guard(&self) {}
    fn is_busy(&self) {}
    fn is_text(&self) {}
    fn min_hold(&self) {}
    fn key(&self) {}
    fn max_hold(&self) {}
    fn next(&self) {}
    fn part(&self) {}
    fn permits(&self) {}
    fn read(&self) {}
    fn reentrant(&self) {}
    fn released(&self) {}
    fn renew(&self) {}
    fn several(&self) {}
    fn take(&self) {}
    fn text(&self) {}
    fn ttl(&self) {}
    fn wait(&self) {}
    fn write(&self) {}
}

impl<T: ?Sized> Blanket for T {}

#[distributed_lock(
    key = "blanket:<id>:x",
    ttl = "10s",
    wait = "0s",
    mode = "read",
    renew = true,
    max_hold = "1h",
    reentrant = true,
    on_busy = "skip",
    guard = held,
    token = token
)]
async fn every_option(id: u8) -> Result<(), LockError> {
    let _ = (held.key(), token);
    paused(()).await
}

#[distributed_lock(
    key = "blanket blocking:<id>:x",
    ttl = "10s",
    wait = "0s",
    permits = 5,
    take = 2,
    renew = true,
    max_hold = "1h",
    reentrant = true,
    on_busy = "skip",
    guard = held,
    token = token
)]
fn every_option_blocking(id: u8) -> Result<(), LockError> {
    let _ = (held.key(), token);
    entered(())
}

#[distributed_lock(key = format!("blanket expression {id}"), client = lock_runtime::LockClient::installed()?)]
async fn expression(id: u8) -> Result<u8, LockError> {
    paused(id).await
}

#[distributed_lock(keys = ["blanket keys:<id>", format!("blanket keys {id}")])]
async fn several_keys(id: u8) -> Result<u8, LockError> {
    paused(id).await
}

#[distributed_lock(keys = [id].map(|id| format!("blanket list {id}")))]
fn list_of_keys(id: u8) -> Result<u8, LockError> {
    entered(id)
}

#[tokio::test]
async fn no_trait_in_scope_is_in_the_way() {
    assert_locks!("blanket:1:x", every_option(1).await, ());
    assert_locks!(
        at_once("blanket blocking:1:x"),
        every_option_blocking(1),
        ()
    );
    assert_locks!("blanket expression 1", expression(1).await, 1);
    assert_locks!("blanket keys 1", several_keys(1).await, 1);
    assert_locks!(at_once("blanket list 1"), list_of_keys(1), 1);
}
