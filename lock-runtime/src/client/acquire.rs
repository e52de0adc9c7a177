//! Asking for a lock.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use crate::backend::Request;
use crate::backend::owned_lease::Held;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::call_tree::{self, Found, Frame};
use crate::client::LockClient;
use crate::client::guard::LockGuard;
use crate::config::{bounded_wait, check_max_hold, check_retain, check_ttl};
use crate::control::is_removed;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockKey, RecordNames};
use crate::lease::schedule::Terms;
use crate::macro_support::body::{self, Ended, OnLost};
use crate::telemetry::Acquiring;

/// A lock that is about to be asked for; made by [`LockClient::lock`].
///
/// Nothing happens until [`acquire`](Acquire::acquire) or one of its like is called. Awaiting the
/// value itself is the same as `acquire`.
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
/// println!("writing with token {}", guard.fencing_token());
/// guard.release().await?;
/// # Ok(()) }
/// ```
#[must_use = "a lock is not asked for until this is awaited"]
#[derive(Clone)]
pub struct Acquire {
    client: LockClient,
    key: LockKey,
    ttl: Option<Duration>,
    wait: Option<Duration>,
    renew: bool,
    max_hold: Option<Duration>,
    retain: Option<Duration>,
    reentrant: bool,
    function: &'static str,
    template: &'static str,
}

impl Acquire {
    pub(crate) fn new(client: LockClient, key: LockKey) -> Acquire {
        Acquire {
            client,
            key,
            ttl: None,
            wait: None,
            renew: true,
            max_hold: None,
            retain: None,
            reentrant: true,
            function: "",
            template: BY_HAND,
        }
    }

    /// How long the lease lasts without a renewal, 20 ms to 24 h; the client's if not said.
    ///
    /// It bounds how long a crashed holder blocks others. It does *not* bound how long the lock
    /// may be held: an explicit ttl leaves renewal on. For that see [`max_hold`](Acquire::max_hold)
    /// and [`renew`](Acquire::renew).
    pub fn ttl(mut self, ttl: Duration) -> Acquire {
        self.ttl = Some(ttl);
        self
    }

    /// How long to wait for the lock, everything included; the client's if not said. Zero makes
    /// one attempt.
    pub fn wait(mut self, wait: Duration) -> Acquire {
        self.wait = Some(wait);
        self
    }

    /// Whether the lease is renewed in the background, each third of its ttl; on if not said.
    pub fn renew(mut self, renew: bool) -> Acquire {
        self.renew = renew;
        self
    }

    /// The longest that the lock may be held, renewals included; reached, the hold is lost.
    pub fn max_hold(mut self, max_hold: Duration) -> Acquire {
        self.max_hold = Some(max_hold);
        self
    }

    /// For how long the lease stays with this client after the body, if nobody else wants the lock: 1 ms to
    /// a third of the ttl, or zero for not at all. The client's if not said.
    ///
    /// The next caller of the key in this client then takes the lease with a fencing token of its own and
    /// without a command, also with a `wait` of zero. See [what that costs others](crate::docs::cookbook#a-hot-key-of-one-process).
    pub fn retain(mut self, retain: Duration) -> Acquire {
        self.retain = Some(retain);
        self
    }

    /// Whether a call tree that holds the lock already may enter it again; on if not said. Off,
    /// such a call fails at once with [`Reentered`](LockErrorKind::Reentered).
    pub fn reentrant(mut self, reentrant: bool) -> Acquire {
        self.reentrant = reentrant;
        self
    }

    /// Names the function that asks and the template of its key, for others and for logs.
    pub(crate) fn described(mut self, function: &'static str, template: &'static str) -> Acquire {
        self.function = function;
        self.template = template;
        self
    }

    /// Acquires the lock, waiting in line for at most `wait`.
    ///
    /// In a call tree that holds the lock already (same client or a clone of it, same key) this
    /// costs no round trip: the guard shares the hold, with the ttl, renewal and fencing token of
    /// the outermost one. If a sibling is inside, it waits for that one to leave.
    ///
    /// # Errors
    ///
    /// [`Busy`](LockErrorKind::Busy) if the lock was held at the last attempt,
    /// [`Unavailable`](LockErrorKind::Unavailable) if the last attempt was not answered,
    /// [`Lost`](LockErrorKind::Lost) if it was had and over before this came to it, or the outer hold of
    /// the call tree is, [`Rejected`](LockErrorKind::Rejected),
    /// [`Reentered`](LockErrorKind::Reentered), [`InvalidKey`](LockErrorKind::InvalidKey),
    /// [`InvalidOptions`](LockErrorKind::InvalidOptions), [`Shutdown`](LockErrorKind::Shutdown).
    ///
    /// # Panics
    ///
    /// On a memory client inside a tokio runtime that was built without timers.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future at any await gives up the place in line and leaves no key and no queue
    /// entry behind; a grant that arrives late is given back within half a second.
    ///
    /// A future that was polled and is kept without being polled again may be granted the lock. The lease is
    /// not renewed before the caller has the guard: it ends with its ttl, and the future then fails with
    /// `Lost`, or in memory waits again.
    pub async fn acquire(self) -> Result<LockGuard, LockError> {
        let client = self.client.clone();
        let frame = match self.find() {
            None => Frame::outermost(self.outermost().await?),
            Some(found) => self.nested(found).await?,
        };
        Ok(LockGuard::new(client, frame))
    }

    /// Makes one attempt: `None` if somebody else holds the lock.
    ///
    /// Contention is not an error, an outage is.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Acquire::acquire), except `Busy`.
    ///
    /// # Panics
    ///
    /// As [`acquire`](Acquire::acquire).
    ///
    /// # Cancel safety
    ///
    /// As [`acquire`](Acquire::acquire).
    pub async fn try_acquire(self) -> Result<Option<LockGuard>, LockError> {
        unless_busy(self.wait(Duration::ZERO).acquire().await)
    }

    /// Acquires the lock, runs `body` under it, and releases it.
    ///
    /// The body opens a call tree, as the attribute does: locked functions called in it know that
    /// the lock is held. When the lock is lost, the body is dropped at its current await and the
    /// call fails with [`Lost`](LockErrorKind::Lost). `Ok` means that the lock was held
    /// throughout. What the body returns is not looked into: if that is a `Result`, an `Err` of its
    /// own is inside the `Ok`.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Acquire::acquire), and `Lost` if the lock was lost under the body.
    ///
    /// # Panics
    ///
    /// As [`acquire`](Acquire::acquire), and with the body.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body first, then gives the lock back in the background.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let token = client.lock("order:42").run(async |guard| guard.fencing_token()).await?;
    /// # assert!(token.get() > 0); Ok(()) }
    /// ```
    pub async fn run<R>(self, body: impl AsyncFnOnce(&LockGuard) -> R) -> Result<R, LockError> {
        let guard = self.acquire().await?;
        let outcome = {
            let body = pin!(Some(body(&guard)));
            body::drive(&guard, OnLost::Cancel, body).await
        };
        // Boxed, or it would be part of every future that runs a body.
        Box::pin(body::settle(guard, OnLost::Cancel, Ended::of(&outcome))).await?;
        outcome
    }

    /// As [`acquire`](Acquire::acquire), blocking the thread.
    ///
    /// It works with and without a runtime. Inside one, the thread's other tasks stand still
    /// meanwhile; so never wait here for a lock that another task of the same thread holds.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Acquire::acquire). In a call tree that holds the lock with a sibling inside
    /// it cannot wait, since both may live in one task: it fails at once with `Reentered`.
    pub fn acquire_blocking(self) -> Result<LockGuard, LockError> {
        let client = self.client.clone();
        let frame = match self.find() {
            None => {
                let asked = self.asked(client.engine().blocking_clock());
                let held = self.request().and_then(|request| {
                    Held::acquire_blocking(client.engine(), client.gate(), request)
                });
                let held = self.hand_over(held, asked)?;
                // What is told of it is heard by somebody else's code, which may have taken its time; and
                // nobody looks again before a body that cannot be stopped.
                if let Some(loss) = held.loss() {
                    return Err(held.lost_error(loss));
                }
                Frame::outermost(held)
            }
            Some(found) => self.nested_blocking(found)?,
        };
        Ok(LockGuard::new(client, frame))
    }

    /// As [`try_acquire`](Acquire::try_acquire), blocking the thread for at most one attempt.
    ///
    /// # Errors
    ///
    /// As [`acquire_blocking`](Acquire::acquire_blocking), except `Busy`.
    pub fn try_acquire_blocking(self) -> Result<Option<LockGuard>, LockError> {
        unless_busy(self.wait(Duration::ZERO).acquire_blocking())
    }

    /// As [`run`](Acquire::run), blocking the thread.
    ///
    /// The body cannot be stopped: if the lock is lost it runs to its end, and then the call fails
    /// with `Lost`.
    ///
    /// # Errors
    ///
    /// As [`acquire_blocking`](Acquire::acquire_blocking), and `Lost`.
    pub fn run_blocking<R>(self, body: impl FnOnce(&LockGuard) -> R) -> Result<R, LockError> {
        let guard = self.acquire_blocking()?;
        let output = body::run_blocking(&guard, || body(&guard));
        body::settle_blocking(guard, OnLost::Cancel, Ended::Well)?;
        Ok(output)
    }

    fn find(&self) -> Option<Found> {
        call_tree::find(self.client.id(), self.key.as_str())
    }

    fn now(&self) -> Moment {
        self.client.engine().clock().now()
    }

    fn waiting_time(&self) -> Duration {
        bounded_wait(self.wait.unwrap_or(self.client.options().wait))
    }

    async fn outermost(&self) -> Result<Held, LockError> {
        let asked = self.asked(self.client.engine().clock());
        let held = match self.request() {
            Ok(request) => Held::acquire(self.client.engine(), self.client.gate(), request).await,
            Err(error) => Err(error),
        };
        self.hand_over(held, asked)
    }

    fn asked(&self, clock: Clock) -> Acquiring {
        Acquiring::begin(self.function, self.template, clock)
    }

    /// The last look before the caller has the lock: it may have been away for longer than the
    /// lease, and a body must not begin without it.
    fn hand_over(
        &self,
        acquired: Result<Held, LockError>,
        asked: Acquiring,
    ) -> Result<Held, LockError> {
        let now = asked.now();
        let waited = asked.waited(now);
        let outcome = acquired.and_then(|held| match held.loss_at(now) {
            Some(loss) if !is_removed!("check_before_the_hand_over") => Err(held.lost_error(loss)),
            _ => Ok(held),
        });
        match outcome {
            Ok(mut held) => {
                asked.granted(&held, waited);
                held.handed_over(now);
                Ok(held)
            }
            Err(error) => {
                asked.refused(&error, waited);
                Err(self.complete(error, waited))
            }
        }
    }

    /// Everything filled in and checked.
    fn request(&self) -> Result<Request, LockError> {
        let options = self.client.options();
        let terms = self.terms()?;
        let names = RecordNames::new(&options.prefix, &self.key).map_err(|problem| {
            LockError::new(LockErrorKind::InvalidKey)
                .with_key(&self.key)
                .with_detail(problem.to_string())
        })?;
        Ok(Request {
            key: self.key.clone(),
            names,
            terms,
            wait: self.waiting_time(),
            label: self.client.labels().of(self.function),
            function: self.function,
            template: self.template,
        })
    }

    fn terms(&self) -> Result<Terms, LockError> {
        let ttl = self.ttl.unwrap_or(self.client.options().ttl);
        check_ttl(ttl)
            .and_then(|()| self.max_hold.map_or(Ok(()), check_max_hold))
            .and_then(|()| {
                self.retain
                    .map_or(Ok(()), |retain| check_retain(retain, ttl))
            })
            .map_err(|error| error.with_key(&self.key))?;
        Ok(Terms {
            ttl,
            renew: self.renew,
            max_hold: self.max_hold,
            // The client's own is for leases of all lengths.
            retain: self
                .retain
                .unwrap_or(self.client.options().retain.min(ttl / 3)),
        })
    }

    /// Adds what the caller wants to know to an error of the backend.
    fn complete(&self, error: LockError, waited: Duration) -> LockError {
        let error = error.with_key(&self.key);
        match error.kind() {
            LockErrorKind::Busy | LockErrorKind::Unavailable => error.with_waited(waited),
            _ => error,
        }
    }

    async fn nested(&self, found: Found) -> Result<Arc<Frame>, LockError> {
        let started = self.now();
        self.may_reenter()?;
        let hold = found.frame.clone();
        let descended = {
            let wait = self.waiting_time();
            let mut descend = pin!(found.frame.clone().descend());
            tokio::select! {
                biased;
                loss = hold.held().lost() => Err(loss),
                frame = &mut descend => Ok(Some(frame)),
                () = self.client.engine().sleep(wait) => Ok(None),
            }
        };
        match descended {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err(self.complete(
                LockError::new(LockErrorKind::Busy).with_holder("a sibling in this call tree"),
                self.now().since(started),
            )),
            // Whoever drives the outer body is about to drop this future: it looks at the hold
            // before it polls the body again. An error now would let the body go on to its own
            // fallback, without the lock. Only a body that blocks inside one poll, on a runtime of
            // its own, can get as far as the error, and must, since nothing else would end it.
            Err(loss) => {
                if found.dropped_on_loss {
                    self.client.engine().sleep(TO_BE_DROPPED).await;
                }
                Err(hold.held().lost_error(loss))
            }
        }
    }

    fn nested_blocking(&self, found: Found) -> Result<Arc<Frame>, LockError> {
        self.may_reenter()?;
        if let Some(loss) = found.frame.held().loss() {
            return Err(found.frame.held().lost_error(loss));
        }
        found.frame.try_descend().ok_or_else(|| {
            LockError::new(LockErrorKind::Reentered)
                .with_key(&self.key)
                .with_detail("a sibling is inside, and a synchronous call cannot wait for it")
        })
    }

    fn may_reenter(&self) -> Result<(), LockError> {
        // The hold's own terms apply, but a mistake is one wherever the call is made from.
        self.terms()?;
        // In a forked child the hold is but a memory of its parent's.
        let same = self.client.engine().check_process();
        same.map_err(|error| error.with_key(&self.key))?;
        if self.reentrant {
            return Ok(());
        }
        Err(LockError::new(LockErrorKind::Reentered)
            .with_key(&self.key)
            .with_detail("this call says `reentrant = false`"))
    }
}

/// Stands for the template of a lock that was asked for without the attribute.
const BY_HAND: &str = "-";

/// How long a call under a lost hold waits to be dropped.
const TO_BE_DROPPED: Duration = Duration::from_millis(250);

/// Contention is an answer, not an error.
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
            .field("ttl", &self.ttl)
            .field("wait", &self.wait)
            .field("renew", &self.renew)
            .field("max_hold", &self.max_hold)
            .field("reentrant", &self.reentrant)
            .finish_non_exhaustive()
    }
}
