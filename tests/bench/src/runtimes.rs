//! The runtimes of typical services.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::runtime::{Builder, Runtime};

/// The kinds of runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    CurrentThread,
    /// Like `#[tokio::main]`: a thread for each core that the process may use.
    MultiThread,
}

impl Flavour {
    /// Completes `work` on a new runtime, as a task, since services call from tasks.
    pub(crate) fn run<T: Send + 'static>(
        self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let runtime = self.runtime();
        let outcome = runtime.block_on(runtime.spawn(work));
        outcome.expect("nothing panics while it is measured")
    }

    pub(crate) fn runtime(self) -> Runtime {
        let mut builder = match self {
            Flavour::CurrentThread => Builder::new_current_thread(),
            Flavour::MultiThread => Builder::new_multi_thread(),
        };
        let runtime = builder.enable_all().build();
        runtime.expect("a runtime can be made")
    }
}

/// Completes work that blocks its thread instead of waiting, on this thread and without a runtime.
pub(crate) fn without_runtime<T>(work: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(work).poll(&mut context) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("it blocks instead of waiting"),
    }
}

/// The cores that this process may use.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
