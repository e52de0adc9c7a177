//! Locked functions produce no warnings of their own, under the strictest lints.

use lock_runtime::LockClient;

mod clean {
    #![forbid(unsafe_code, unused)]
    #![deny(
        warnings,
        rust_2018_idioms,
        unreachable_pub,
        unused_qualifications,
        unused_lifetimes,
        single_use_lifetimes,
        let_underscore_drop,
        trivial_casts,
        clippy::all,
        clippy::pedantic
    )]

    use std::time::Duration;

    use lock_runtime::{LockClient, LockError, distributed_lock};

    pub(super) struct Tx;

    impl Drop for Tx {
        fn drop(&mut self) {}
    }

    #[distributed_lock(key = "<id>", ttl = "10s", permits = 100000, take = u32::from(id), client = locks)]
    pub(super) async fn asynchronous(locks: &LockClient, id: u8, _tx: Tx) -> Result<u8, LockError> {
        tokio::task::yield_now().await;
        Ok(id)
    }

    #[distributed_lock(key = "<id>", ttl = Duration::from_secs(1), client = locks)]
    pub(super) fn synchronous(locks: &LockClient, mut id: u8, _tx: Tx) -> Result<u8, LockError> {
        id += 1;
        Ok(id)
    }

    #[distributed_lock(key = "unit", mode = "read", client = locks, on_busy = "skip", or_else = |_| ())]
    pub(super) async fn unit(locks: &LockClient) {}

    #[distributed_lock(key = "unit", mode = "write", client = locks, or_else = |_| ())]
    pub(super) fn unit_blocking(locks: &LockClient) {}

    #[distributed_lock(key = String::from("expression"), client = locks, guard = lock)]
    pub(super) async fn expression(locks: &LockClient) -> Result<String, LockError> {
        Ok(lock.key().to_owned())
    }

    #[distributed_lock(keys = ["<_id>:<name>", "<name>", String::from("a")], client = locks)]
    pub(super) async fn several(
        locks: &LockClient,
        _id: u8,
        name: &str,
        _tx: Tx,
    ) -> Result<(), LockError> {
        Ok(())
    }

    #[distributed_lock(keys = names.iter(), client = locks)]
    pub(super) fn listed(locks: &LockClient, names: &[String], _tx: Tx) -> Result<(), LockError> {
        Ok(())
    }

    #[distributed_lock(key = "never", client = locks, or_else = |error| panic!("{error}"))]
    pub(super) async fn never(locks: &LockClient) -> ! {
        panic!("ran")
    }

    #[distributed_lock(key = "never", client = locks, or_else = |error| panic!("{error}"))]
    pub(super) fn never_blocking(locks: &LockClient) -> ! {
        panic!("ran")
    }

    #[distributed_lock(key = "<_id>:<_name.len()>", client = locks, or_else = |_| ())]
    pub(super) fn underscores(locks: &LockClient, _id: u8, _name: &str) {}

    #[distributed_lock(key = "block", client = locks)]
    pub(super) fn future(locks: &LockClient) -> impl Future<Output = Result<u8, LockError>> {
        let one = 1;
        async move { Ok(one) }
    }

    pub(super) struct Shop(pub(super) LockClient);

    impl Shop {
        #[distributed_lock(key = "shop", client = self.0)]
        pub(super) async fn method(&mut self, id: u8) -> Result<&mut Self, LockError> {
            if id == 0 {
                return Ok(self);
            }
            Ok(self)
        }
    }
}

#[tokio::test]
async fn clean_functions_run() {
    let locks = LockClient::memory();
    assert_eq!(clean::asynchronous(&locks, 1, clean::Tx).await.unwrap(), 1);
    assert_eq!(clean::synchronous(&locks, 1, clean::Tx).unwrap(), 2);
    clean::unit(&locks).await;
    clean::unit_blocking(&locks);
    assert_eq!(clean::expression(&locks).await.unwrap(), "expression");
    clean::several(&locks, 1, "name", clean::Tx).await.unwrap();
    clean::listed(&locks, &["name".to_owned()], clean::Tx).unwrap();
    clean::underscores(&locks, 1, "");
    assert_eq!(clean::future(&locks).await.unwrap(), 1);
    clean::Shop(locks.clone()).method(0).await.unwrap();
    // `functions::returns` calls such functions.
    let _ = (clean::never, clean::never_blocking);
}
