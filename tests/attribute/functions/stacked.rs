//! Other attributes above and below `#[distributed_lock]`.

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, at_once, entered, paused};

type Answer = Result<u8, AppError>;

#[distributed_lock(key = "above instrument:<id>")]
#[tracing::instrument(ret, err)]
async fn above(id: u8) -> Answer {
    paused(id).await
}

#[tracing::instrument(ret, err)]
#[distributed_lock(key = "below instrument:<id>")]
async fn below(id: u8) -> Answer {
    paused(id).await
}

#[distributed_lock(key = "above instrument blocking:<id>")]
#[tracing::instrument(skip_all)]
fn above_blocking(id: u8) -> Answer {
    entered(id)
}

#[tracing::instrument(skip_all, fields(order = id))]
#[distributed_lock(key = "below instrument blocking:<id>")]
fn below_blocking(id: u8) -> Answer {
    entered(id)
}

#[tracing::instrument]
#[distributed_lock(key = "between:<id>")]
#[tracing::instrument]
async fn between(id: u8) -> Answer {
    paused(id).await
}

#[async_trait::async_trait]
trait Service {
    async fn call(&self, id: u8) -> Answer;
    async fn called(&self, id: u8) -> Answer;
}

#[async_trait::async_trait]
impl Service for () {
    #[distributed_lock(key = "above instrument in a trait:<id>")]
    #[tracing::instrument]
    async fn call(&self, id: u8) -> Answer {
        paused(id).await
    }

    #[tracing::instrument]
    #[distributed_lock(key = "below instrument in a trait:<id>")]
    async fn called(&self, id: u8) -> Answer {
        paused(id).await
    }
}

#[tokio::test]
async fn instrument() {
    assert_locks!("above instrument:1", above(1).await, 1);
    assert_locks!("below instrument:1", below(1).await, 1);
    assert_locks!(at_once("above instrument blocking:1"), above_blocking(1), 1);
    assert_locks!(at_once("below instrument blocking:1"), below_blocking(1), 1);
    assert_locks!("between:1", between(1).await, 1);
    assert_locks!("above instrument in a trait:1", ().call(1).await, 1);
    assert_locks!("below instrument in a trait:1", ().called(1).await, 1);
}

/// A macro that takes the block of `Box::pin(async move { … })` for the whole function. The path is that of its runtime.
mod dropping {
    use super::{Answer, distributed_lock, paused};
    use std::pin::Pin;

    pub(super) mod runtime {
        pub(crate) mod future {
            /// What the macro puts around the block.
            pub(crate) struct FutureExt;

            impl FutureExt {
                pub(crate) fn enter_on_poll<F: std::future::Future>(block: F, _: &str) -> F {
                    block
                }
            }
        }
    }

    #[async_trait::async_trait]
    impl super::Service for u8 {
        #[distributed_lock(key = "above a dropping macro:<id>", guard = lock)]
        #[fastrace_macro::trace(name = "call", enter_on_poll = true, crate = runtime)]
        async fn call(&self, id: u8) -> Answer {
            assert!(lock.is_valid());
            paused(id).await
        }

        #[distributed_lock(key = "above two macros:<id>")]
        #[fastrace_macro::trace(name = "called", enter_on_poll = true, crate = runtime)]
        #[tracing::instrument(skip_all)]
        async fn called(&self, id: u8) -> Answer {
            paused(id).await
        }
    }

    #[distributed_lock(key = "above a dropping macro, boxed:<id>")]
    #[fastrace_macro::trace(name = "boxed", enter_on_poll = true, crate = runtime)]
    pub(super) fn boxed(id: u8) -> Pin<Box<dyn std::future::Future<Output = Answer> + Send>> {
        let doubled = id + id;
        Box::pin(async move { paused(doubled - id).await })
    }
}

#[tokio::test]
async fn macro_that_drops_what_stands_before_the_block() {
    assert_locks!("above a dropping macro:1", 0.call(1).await, 1);
    assert_locks!("above two macros:1", 0.called(1).await, 1);
    assert_locks!(
        "above a dropping macro, boxed:1",
        dropping::boxed(1).await,
        1
    );
}

/// The test attributes. Each test has a client of its own, so it need not wait until the other tables install one.
mod tests {
    use lock_runtime::{LockClient, LockError, distributed_lock};

    #[distributed_lock(key = "test", client = LockClient::memory(), guard = held)]
    #[test]
    fn above_test() -> Result<(), LockError> {
        assert!(held.is_valid());
        Ok(())
    }

    #[test]
    #[distributed_lock(key = "test", client = LockClient::memory(), guard = held)]
    fn below_test() -> Result<(), LockError> {
        assert!(held.is_valid());
        Ok(())
    }

    #[distributed_lock(key = "test", client = LockClient::memory(), guard = held)]
    #[tokio::test]
    async fn above_tokio_test() -> Result<(), LockError> {
        tokio::task::yield_now().await;
        assert!(held.is_valid());
        Ok(())
    }
}
