//! Locked functions that await one another: as many as the attribute's page promises without `recursion_limit`.

use std::future::Future;

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, paused};

type Answer = Result<u8, AppError>;

/// A chain of functions with these attributes, each of which awaits the next.
macro_rules! chain {
    ($(#[$attribute:meta])* => $last:ident) => {
        $(#[$attribute])*
        async fn $last() -> Answer {
            paused(1).await
        }
    };
    ($(#[$attribute:meta])* => $outer:ident $inner:ident $($more:ident)*) => {
        $(#[$attribute])*
        async fn $outer() -> Answer {
            Ok($inner().await? + 1)
        }
        chain!($(#[$attribute])* => $inner $($more)*);
    };
}

mod plain {
    use super::*;

    chain!(#[distributed_lock(key = "levels")] => ten f9 f8 f7 f6 f5 f4 f3 f2 f1);

    #[tokio::test]
    async fn ten_functions_await_each_other() {
        assert_locks!("levels", sendable(ten()).await, 10);
    }
}

mod instrumented {
    use super::*;

    chain!(
        #[distributed_lock(key = "instrumented levels")]
        #[tracing::instrument]
        => six f5 f4 f3 f2 f1
    );

    #[tokio::test]
    async fn six_instrumented_functions_await_each_other() {
        assert_locks!("instrumented levels", sendable(six()).await, 6);
    }
}

/// The compiler looks through all levels to see whether a future is `Send`.
fn sendable<F: Future + Send>(future: F) -> F {
    future
}
