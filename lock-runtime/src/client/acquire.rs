//! A call for a lock: its options, and the methods that make it.

mod blocking;
mod nested;
mod options;
mod order;
mod outermost;
mod several;
mod terms;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::options::{Access, CallOptions, OnBusy};
use crate::backend::caller::Caller;
use crate::call_tree::{self, Found, Frame, OnLost};
use crate::client::body_end::{self, BodyEnd};
use crate::client::core::Core;
use crate::client::guard::LockGuard;
use crate::error::LockError;
use crate::key::{KeyTemplate, LockKey};

/// A call for a lock, with its options; created by [`LockClient::lock`](crate::LockClient::lock).
///
/// Nothing happens until [`acquire`](Acquire::acquire), [`run`](Acquire::run) or a variant of them is called. Awaiting
/// the value itself is the same as calling `acquire`.
///
/// # Examples
///
/// ```
/// use lock_runtime::LockClient;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
/// let client = LockClient::memory();
/// let guard = client.lock("order:42").ttl(Duration::from_secs(10)).wait(Duration::from_secs(2)).await?;
/// println!("holding {}", guard.key());
/// guard.release().await?;
/// # Ok(()) }
/// ```
#[must_use = "no lock is acquired until this is awaited"]
#[derive(Clone)]
pub struct Acquire {
    core: Arc<Core>,
    key: LockKey,
    /// The other keys of a call for several locks.
    others: Option<Arc<[LockKey]>>,
    options: CallOptions,
    function: &'static str,
    template: &'static str,
    /// The call's place in the source.
    place: &'static Location<'static>,
}

impl Acquire {
    #[track_caller]
    pub(crate) fn new(core: Arc<Core>, key: LockKey) -> Acquire {
        Acquire {
            core,
            template: key.template().map_or(BY_HAND, KeyTemplate::text),
            key,
            others: None,
            options: CallOptions::default(),
            function: "",
            place: Location::caller(),
        }
    }

    #[track_caller]
    pub(crate) fn for_all(core: Arc<Core>, mut keys: impl Iterator<Item = LockKey>) -> Acquire {
        let first = keys.next().unwrap_or_else(LockKey::missing);
        let mut acquire = Acquire::new(core, first);
        let others: Arc<[LockKey]> = keys.collect();
        // The template stands for all keys, or for none.
        if !others.iter().all(|key| key.is_written_by(acquire.template)) {
            acquire.template = BY_HAND;
        }
        acquire.others = Some(others);
        acquire
    }

    /// Sets the name that spans, events and metrics show in place of the key's template, and that the holder's label
    /// shows. Default: in reports the template of a [declared](derive@crate::LockKey) key, or else `-`; none in the
    /// label.
    ///
    /// Do not include the key: each distinct name becomes a metrics series. Locks with the same name are one class in
    /// the [order of locks](crate::docs::cookbook#opposite-orders): the name `account:<>` is the class of the template
    /// `account:<id>`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let guard = client.lock("order:42").name("ship-order").acquire().await?;
    /// # guard.release().await }
    /// ```
    pub fn name(mut self, name: &'static str) -> Acquire {
        self.template = name;
        self
    }

    /// Returns the function that has the attribute, or else the name of the lock, for the holder's label.
    fn function_or_name(&self) -> &'static str {
        match self.function {
            "" if is_name(self.template, &self.key) => self.template,
            function => function,
        }
    }

    /// Adds the attribute's options, and for labels and logs the calling function, the template of its key and its
    /// place. A template that wrote all keys stays.
    pub(crate) fn described(
        mut self,
        options: CallOptions,
        function: &'static str,
        template: &'static str,
        place: &'static Location<'static>,
    ) -> Acquire {
        self.options = options;
        self.function = function;
        if self.template == BY_HAND {
            self.template = template;
        }
        self.place = place;
        self
    }

    /// Acquires the lock, waiting in its queue for at most `wait`.
    ///
    /// In a call tree that holds the lock already (same client or a clone of it, same key) this takes no round trip.
    /// The guard then shares the hold, with the ttl, renewal and fencing token of the outermost guard. If a sibling
    /// call is inside, this call waits until it has left.
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::LockErrorKind::Busy) if the lock was held at the last attempt,
    /// [`Unavailable`](crate::LockErrorKind::Unavailable) if the last attempt got no answer.
    /// [`Lost`](crate::LockErrorKind::Lost) if the lock was acquired and then lost before the caller resumed, or if the
    /// outer hold of the call tree is lost. Also [`Rejected`](crate::LockErrorKind::Rejected),
    /// [`Reentered`](crate::LockErrorKind::Reentered), [`OutOfOrder`](crate::LockErrorKind::OutOfOrder) where a test
    /// [denies](crate::testing::deny_lock_order) it, [`InvalidKey`](crate::LockErrorKind::InvalidKey),
    /// [`InvalidOptions`](crate::LockErrorKind::InvalidOptions) and [`Shutdown`](crate::LockErrorKind::Shutdown).
    ///
    /// # Panics
    ///
    /// On a memory client inside a tokio runtime that was built without timers.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future at any await leaves the queue, and leaves no key and no queue entry behind. A grant
    /// that arrives late is released within half a second.
    ///
    /// A future that was polled once and then kept unpolled may still be granted the lock. Its lease is not renewed
    /// until the caller has the guard, so it ends with its ttl. The future then fails with `Lost`, or in memory waits
    /// again.
    pub fn acquire(self) -> impl Future<Output = Result<LockGuard, LockError>> + Send {
        self.acquire_for(Caller::Task)
    }

    async fn acquire_for(self, caller: Caller) -> Result<LockGuard, LockError> {
        if self.others.is_some() {
            // Boxed, or it would be part of every future that acquires a lock.
            return Box::pin(self.several(caller)).await;
        }
        let core = self.core.clone();
        let frame = match self.found() {
            Found::Other(nesting) => {
                let lease = self.outermost(caller, self.lock_set(), nesting).await?;
                Frame::outermost(lease, self.mode()?)
            }
            Found::Lock(enclosing) => {
                let is_dropped_on_loss = enclosing.is_dropped_on_loss;
                let fenced = self.options.fenced;
                let wait_ends = fenced.then(|| Instant::now() + self.bounded_wait());
                let frame = self.nested(caller, enclosing).await?;
                if let Some(wait_ends) = wait_ends {
                    let minted = self.nested_token(caller, &frame, is_dropped_on_loss, wait_ends);
                    Box::pin(minted).await?;
                }
                frame
            }
        };
        Ok(LockGuard::new(core, frame))
    }

    /// Makes one attempt, and returns `None` if another holder has the lock.
    ///
    /// Contention is not an error; an outage is.
    ///
    /// # Errors
    ///
    /// The same as [`acquire`](Acquire::acquire), except `Busy`.
    ///
    /// # Panics
    ///
    /// In the same case as [`acquire`](Acquire::acquire).
    ///
    /// # Cancel safety
    ///
    /// The same as [`acquire`](Acquire::acquire).
    pub async fn try_acquire(self) -> Result<Option<LockGuard>, LockError> {
        unless_busy(self.wait(Duration::ZERO).acquire().await)
    }

    /// Acquires the lock, runs `body` under it, and releases it.
    ///
    /// The body opens a call tree, as the attribute does: locked functions that it calls enter the lock. When the lock
    /// is lost, the body is dropped at its current await and the call fails with [`Lost`](crate::LockErrorKind::Lost).
    /// `Ok` means that the lock was held throughout. The body's output is not examined: if it is a `Result`, its `Err`
    /// is inside the `Ok`.
    ///
    /// # Errors
    ///
    /// The same as [`acquire`](Acquire::acquire), and `Lost` if the lock was lost while the body ran.
    ///
    /// # Panics
    ///
    /// In the same case as [`acquire`](Acquire::acquire), and if the body panics.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body first, then releases the lock in the background.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let token = client.lock("order:42").run(async |guard| guard.fencing_token().await).await??;
    /// # assert!(token.get() > 0); Ok(()) }
    /// ```
    pub async fn run<R>(self, body: impl AsyncFnOnce(&LockGuard) -> R) -> Result<R, LockError> {
        let guard = self.acquire().await?;
        let outcome = {
            let body = pin!(Some(body(&guard)));
            guard.driver(OnLost::Cancel).drive(body).await
        };
        // Boxed, or it would be part of every future that runs a body.
        Box::pin(body_end::release_after(
            Caller::Task,
            guard,
            OnLost::Cancel,
            BodyEnd::of(&outcome),
        ))
        .await?;
        outcome
    }

    fn found(&self) -> Found {
        call_tree::find(self.core.number, self.key.as_str())
    }
}

/// The template that reports show for a lock that no template names.
const BY_HAND: &str = "-";

/// Whether the template of a call by hand is the name that the program gave it.
fn is_name(template: &str, key: &LockKey) -> bool {
    template != BY_HAND && !key.is_written_by(template)
}

/// Turns `Busy` into `None`: contention is an answer, not an error.
fn unless_busy(acquired: Result<LockGuard, LockError>) -> Result<Option<LockGuard>, LockError> {
    match acquired {
        Ok(guard) => Ok(Some(guard)),
        Err(error) if error.is_busy() => Ok(None),
        Err(error) => Err(error),
    }
}

impl IntoFuture for Acquire {
    type Output = Result<LockGuard, LockError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.acquire())
    }
}

impl fmt::Debug for Acquire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("key", &self.key)
            .field("others", &self.others)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
