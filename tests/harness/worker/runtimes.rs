//! Callers with their own runtime, which blocks or ends.

use std::future::{Future, pending};
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Completes `work` on a current-thread runtime that runs nothing else.
pub(crate) async fn alone<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        let outcome = current_thread().block_on(work);
        // The caller waits for the result.
        let _ = sender.send(outcome);
    });
    receiver.await.ok()
}

/// Completes `work` on its own runtime, and drops the runtime while one of its tasks still has the
/// result.
pub(crate) async fn abandoned<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
    describe: impl FnOnce(&T) -> String + Send + 'static,
) -> Option<String> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        let runtime = current_thread();
        let outcome = runtime.block_on(work);
        let words = describe(&outcome);
        runtime.spawn(async move {
            let _kept = outcome;
            pending::<()>().await;
        });
        drop(runtime);
        // The caller waits for the result.
        let _ = sender.send(words);
    });
    receiver.await.ok()
}

fn current_thread() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made")
}
