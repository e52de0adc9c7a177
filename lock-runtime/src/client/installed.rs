//! The default client: process-wide, or scoped to one future in tests.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::client::lock_client::LockClient;
use crate::error::{LockError, LockErrorKind};

static INSTALLED: OnceLock<LockClient> = OnceLock::new();

/// Whether any future has ever had a client of its own. In services none has, so calls read no thread-local.
static IS_SCOPED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The client of the future that is being polled on this thread.
    static SCOPED: RefCell<Option<LockClient>> = const { RefCell::new(None) };
}

impl LockClient {
    /// Makes this the default client of the process, for every attribute that names no other client.
    ///
    /// # Errors
    ///
    /// `AlreadyInstalled` the second time.
    pub fn install(&self) -> Result<(), LockError> {
        INSTALLED
            .set(self.clone())
            .map_err(|_| LockError::new(LockErrorKind::AlreadyInstalled))
    }

    /// Returns the client that was installed; inside [`with_installed`](crate::testing::with_installed), the client
    /// given there.
    ///
    /// # Errors
    ///
    /// `NotInstalled` if no client was installed. There is no silent default: a lock that only this process sees would
    /// look just like a lock that all processes respect.
    pub fn installed() -> Result<LockClient, LockError> {
        if let Some(client) = scoped() {
            return Ok(client);
        }
        INSTALLED.get().cloned().ok_or_else(not_installed)
    }
}

fn not_installed() -> LockError {
    let error = LockError::new(LockErrorKind::NotInstalled);
    // Only tests install a client for one future, so this is most likely a task that a test has spawned.
    if IS_SCOPED.load(Ordering::Relaxed) {
        return error.with_detail(
            "a task that a test spawns needs `testing::with_installed` around its own future",
        );
    }
    error
}

fn scoped() -> Option<LockClient> {
    // The thread that polls a scoped future sees what was stored when the future was made.
    if !IS_SCOPED.load(Ordering::Relaxed) {
        return None;
    }
    let client = SCOPED.try_with(|scoped| scoped.borrow().clone());
    // While a thread exits there is none.
    client.ok().flatten()
}

/// Makes `client` the installed client for everything that `future` calls, in place of the process's client.
///
/// For tests of functions whose attribute names no client: tests of one program can run at the same time, each with its
/// own client. This is independent of `install`. Any client works, not only a memory client.
///
/// It applies to calls made while the future is polled or dropped: async functions, synchronous functions, tasks of a
/// `LocalSet` that it runs. A task or a thread that it *spawns* is polled elsewhere: wrap that future as well.
///
/// # Cancel safety
///
/// Dropping the returned future drops `future`, whose destructors still have the client.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, LockError, distributed_lock, testing};
///
/// #[distributed_lock(key = "order:<id>")]
/// async fn ship(id: u64) -> Result<u64, LockError> {
///     Ok(id)
/// }
///
/// // #[tokio::test]
/// # #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), LockError> {
///     let locks = LockClient::memory();
///     testing::with_installed(&locks, async {
///         assert_eq!(ship(42).await?, 42);
///         let _elsewhere = testing::occupy(&locks, "order:43", "api-7")?;
///         let task = tokio::spawn(testing::with_installed(&locks, ship(44)));
///         assert_eq!(task.await.unwrap()?, 44);
///         Ok(())
///     })
///     .await
/// }
/// ```
pub fn with_installed<F: Future>(client: &LockClient, future: F) -> WithInstalled<F> {
    IS_SCOPED.store(true, Ordering::Relaxed);
    WithInstalled {
        future: Some(future),
        client: client.clone(),
    }
}

pin_project! {
    /// A future with an installed client of its own; see [`with_installed`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WithInstalled<F> {
        #[pin]
        future: Option<F>,
        client: LockClient,
    }

    impl<F> PinnedDrop for WithInstalled<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _scope = Scope::of(this.client);
            this.future.set(None);
        }
    }
}

impl<F: Future> Future for WithInstalled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _scope = Scope::of(this.client);
        let future = this.future.as_pin_mut();
        future
            .expect("the future is there until this is dropped")
            .poll(cx)
    }
}

/// Makes a client this thread's client until this is dropped, even by a panic.
struct Scope {
    previous: Option<LockClient>,
}

impl Scope {
    fn of(client: &LockClient) -> Scope {
        Scope {
            previous: exchange(Some(client.clone())),
        }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // The client is dropped here, where the cell is free again: it may be the last reference.
        drop(exchange(self.previous.take()));
    }
}

fn exchange(client: Option<LockClient>) -> Option<LockClient> {
    let exchanged = SCOPED.try_with(|scoped| scoped.replace(client));
    exchanged.ok().flatten()
}
