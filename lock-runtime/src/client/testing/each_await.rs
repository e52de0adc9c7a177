//! Repeats a test, and interrupts the bodies under its locks at another await each time.

use std::any::Any;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use crate::backend::any::AnyBackend;
use crate::backend::memory::Memory;
use crate::backend::memory::interruption::{Interrupted, Interruption, Manner};
use crate::client::installed::with_installed;
use crate::client::lock_client::LockClient;
use crate::config::{Options, Topology};

/// How many awaits are tried. With the run behind each of them, these are 50 million polls.
const MAX_AWAITS: usize = 10_000;

/// Runs `test` again and again, each time with a new [memory client](LockClient::memory), and in run *n* takes the lock
/// from a body at await *n*, counted from 0. The first run that no await is left for is the last.
///
/// An await is a poll that leaves a body under a lock of this client asleep: the body of a locked function, of
/// [`Acquire::run`](crate::Acquire::run) or of [`LockGuard::run`](crate::LockGuard::run). A body that is nested in
/// another one counts for both, and one in a `join!` is polled more often than it awaits. A run loses one lock, so the
/// caller's next call gets through. Synchronous bodies, and code that only holds a guard, never sleep as a body and are
/// not counted.
///
/// With paused time, all runs are alike. The order of several tasks is the runtime's.
///
/// # Panics
///
/// When awaited, if `test` panics after a loss: the message names the await, the locked function and its place. If there
/// are more than 10 000 awaits, or one that [`only`](LoseAtEachAwait::only) selects is never reached.
///
/// # Examples
///
/// [`docs::testing`](crate::docs::testing#a-lock-that-is-lost-at-each-await) begins with one.
pub fn lose_at_each_await<'t, T>(test: T) -> LoseAtEachAwait<'t, T>
where
    T: AsyncFnMut(&LockClient) + 't,
{
    LoseAtEachAwait {
        test,
        manner: Manner::Loss,
        only: None,
        is_installed: false,
        max_awaits: MAX_AWAITS,
        lifetime: PhantomData,
    }
}

/// A test that is repeated for each await once it is awaited; created by [`lose_at_each_await`].
#[must_use = "nothing is run until this is awaited"]
pub struct LoseAtEachAwait<'t, T> {
    test: T,
    manner: Manner,
    only: Option<usize>,
    is_installed: bool,
    max_awaits: usize,
    lifetime: PhantomData<&'t ()>,
}

/// The result of [`lose_at_each_await`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a test that reaches no await shows nothing"]
pub struct TriedAwaits {
    /// How many awaits were tried; 0 if no body slept.
    pub awaits: usize,
}

impl<'t, T: AsyncFnMut(&LockClient) + 't> LoseAtEachAwait<'t, T> {
    /// Runs the test only once, for this await: the number is in the message of a failed test.
    pub fn only(mut self, number: usize) -> Self {
        self.only = Some(number);
        self
    }

    /// [Installs](super::with_installed) the client of each run for the test.
    pub fn installed(mut self) -> Self {
        self.is_installed = true;
        self
    }

    /// Kills the [`process`](super::process) of the body at each await, instead of taking its lock. Awaits outside of a
    /// process are not counted; a test without any in one panics.
    ///
    /// The body is forgotten: no destructor runs. Its locks stay taken for one ttl, which paused time skips if the next
    /// caller's `wait` is longer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError, distributed_lock, testing};
    /// # use std::time::Duration;
    /// #[distributed_lock(key = "import", ttl = "10s", wait = "30s", client = locks)]
    /// async fn import(locks: &LockClient) -> Result<(), LockError> {
    ///     tokio::time::sleep(Duration::from_secs(60)).await;
    ///     Ok(())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
    /// let tried = testing::lose_at_each_await(async |locks: &LockClient| {
    ///     if testing::process(locks, import(locks)).await.is_none() {
    ///         import(locks).await.expect("waits for the end of the ttl");
    ///     }
    /// });
    /// assert_eq!(tried.crash().await.awaits, 1);
    /// # }
    /// ```
    pub fn crash(mut self) -> Self {
        self.manner = Manner::Crash;
        self
    }

    async fn tried(mut self) -> TriedAwaits {
        if let Some(number) = self.only {
            let reached = self.run(number).await;
            assert!(
                reached.is_none(),
                "await {number} was not reached: the test has {}",
                reached.unwrap_or_default()
            );
            return TriedAwaits { awaits: 1 };
        }
        for awaits in 0..=self.max_awaits {
            if self.run(awaits).await.is_some() {
                return TriedAwaits { awaits };
            }
        }
        panic!(
            "the test has more than {} awaits under locks: test a part with fewer",
            self.max_awaits
        );
    }

    /// Runs the test once, and interrupts a body at this await. Returns how many awaits there were, if fewer.
    async fn run(&mut self, number: usize) -> Option<usize> {
        let memory = Memory::interrupting(Interruption::new(self.manner, number));
        let backend = AnyBackend::Memory(memory.clone());
        let client = LockClient::new(backend, Topology::Server.into(), Options::default());
        let test = (self.test)(&client);
        let outcome = if self.is_installed {
            caught(with_installed(&client, test)).await
        } else {
            caught(test).await
        };
        let interruption = memory.interruption().expect("it was created with one");
        match (outcome, interruption.interrupted()) {
            (Err(panic), Some(body)) => panic!("{}", self.failure(number, body, &*panic)),
            // The test fails by itself.
            (Err(panic), None) => resume_unwind(panic),
            (Ok(()), Some(_)) => None,
            (Ok(()), None) => {
                assert!(
                    interruption.awaits() > 0 || !interruption.is_outside(),
                    "nothing can crash: no body slept inside of `testing::process`"
                );
                Some(interruption.awaits())
            }
        }
    }

    fn failure(&self, number: usize, body: &Interrupted, panic: &(dyn Any + Send)) -> String {
        let what = match self.manner {
            Manner::Loss => "the loss of its lock",
            Manner::Crash => "a crash",
        };
        let function = body.labels.function().unwrap_or("a body");
        format!(
            "{function} does not survive {what} at await {number}, its own number {}: {}\n\
             lock: `{}`, key {:?}, taken at {}\n\
             to run this one alone: `.only({number})`",
            body.await_of_body,
            text_of(panic),
            body.labels.template,
            body.key,
            body.labels.place,
        )
    }
}

/// Catches the panic of a future, which is not polled again.
async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message")
}

impl<'t, T: AsyncFnMut(&LockClient) + 't> IntoFuture for LoseAtEachAwait<'t, T> {
    type Output = TriedAwaits;
    type IntoFuture = Pin<Box<dyn Future<Output = TriedAwaits> + 't>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.tried())
    }
}

impl<T> fmt::Debug for LoseAtEachAwait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoseAtEachAwait")
            .field("manner", &self.manner)
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    #[should_panic(expected = "the test has more than 3 awaits under locks")]
    async fn number_of_awaits_is_bounded() {
        let mut endless = lose_at_each_await(async |locks: &LockClient| {
            let body = async |_: &_| {
                for _ in 0..4 {
                    yield_now().await;
                }
            };
            let _ = locks.lock("job").run(body).await;
        });
        endless.max_awaits = 3;
        let _ = endless.await;
    }
}
