//! Locks that live in this process.
//!
//! A store is a map under a mutex; whoever waits, waits on its caller's runtime, with its timers,
//! so time that a test has paused works. A lease that is renewed cannot lapse here: store and
//! holder live and die together, so there is no missed renewal to model, and its renewal is the
//! statement that it does not expire. What can end is a lease without renewal and one with
//! `max_hold`; a task on the caller's runtime tells the holder, and the first in line is told by
//! a timer of its own, so neither needs the other's runtime.
//!
//! A caller that blocks its thread, or has no runtime, takes and waits on its own thread all the same.
//! It goes by the real clock, and its timers are alarms of the background thread, which has no other
//! part in it: a release wakes the next caller's thread itself.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::backend::undelivered::{Abandon, Undelivered};
use crate::backend::{Backend, ReleaseOutcome};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::background::panics::catch_panics;
use crate::background::timers::Timer;
use crate::config::DEFAULT_TTL;
use crate::error::{LockError, LockErrorKind};
use crate::lease::Request;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::{ClientId, OwnerId};
use crate::lease::record::Holder;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule, margin};
use crate::lease::{Lease, LossReason};

/// The clock of callers that wait on a runtime.
const CLOCK: Clock = Clock::Tokio;

/// The terms of somebody who leaves only when asked to.
const FOR_EVER: LeaseTerms = LeaseTerms {
    ttl: DEFAULT_TTL,
    renew: true,
    max_hold: None,
    retain: Duration::ZERO,
};

/// One store.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The same for every hold: within one store the token says whose it is.
    owner: OwnerId,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Every key that is held or waited for.
    locks: HashMap<String, Lock>,
    last_token: u64,
    /// Who is to be woken as soon as the mutex is free.
    called: Vec<Arc<Waiter>>,
}

#[derive(Debug)]
struct Lock {
    holder: Occupant,
    queue: VecDeque<Arc<Waiter>>,
}

/// Who holds a lock, until when.
#[derive(Debug)]
struct Occupant {
    token: FencingToken,
    label: String,
    /// When the store takes the lock away.
    expires: Moment,
    /// What the holder itself goes by.
    schedule: RenewalSchedule,
    lease: Weak<Lease>,
    /// Tells the holder that its lease has ended.
    timer: Option<ExpiryTimer>,
}

/// What tells a holder that its lease has ended.
#[derive(Debug)]
enum ExpiryTimer {
    /// A task on the holder's runtime.
    Task(AbortHandle),
    /// Rung by the background thread, for a holder that goes by the real clock.
    Timer(Timer<'static>),
}

/// Who keeps the time for a caller that waits.
enum Timers {
    /// The runtime that it is on.
    Runtime,
    /// The background thread.
    Background(Background),
}

/// Who holds a lock without a hold: nobody of this process as far as callers can tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stranger(FencingToken);

/// A place in line.
#[derive(Debug)]
struct Waiter {
    label: Arc<str>,
    terms: LeaseTerms,
    granted: Mutex<Option<Grant>>,
    /// It was granted the lock, or became the first in line, or the holder's lease changed.
    called: Notify,
}

/// A lock that was given to somebody.
#[derive(Clone, Copy, Debug)]
struct Grant {
    token: FencingToken,
    at: Moment,
}

/// How long a lease lasts if nobody extends it by hand; `None` is for ever.
fn span_of(terms: &LeaseTerms) -> Option<Duration> {
    if terms.renew {
        terms.max_hold
    } else {
        Some(terms.first_ttl())
    }
}

/// When the store takes a lock back from a caller that has fetched it.
fn expiry(grant: Grant, terms: &LeaseTerms) -> Moment {
    span_of(terms).map_or(Moment::NEVER, |span| grant.at + span)
}

impl State {
    fn mint(&mut self) -> FencingToken {
        self.last_token += u64::from(FencingToken::STEP);
        FencingToken::new(self.last_token)
    }

    /// Takes a lock that nobody holds or waits for.
    fn take(&mut self, key: &str, label: &str, terms: &LeaseTerms, now: Moment) -> Grant {
        let token = self.mint();
        let holder = Occupant::new(token, label, terms, now);
        let queue = VecDeque::new();
        self.locks.insert(key.to_owned(), Lock { holder, queue });
        Grant { token, at: now }
    }

    /// Frees `key` if its lease has ended.
    fn expire(&mut self, key: &str, now: Moment) {
        while let Some(lock) = self.locks.get(key)
            && now >= lock.holder.expires
        {
            // Its deadline was earlier: the holder knows by its own clock, or is woken by its alarm.
            self.hand_on(key, now);
        }
    }

    /// Frees `key` if `token` holds it, and says whether it did.
    fn free(&mut self, key: &str, token: FencingToken, now: Moment) -> bool {
        self.expire(key, now);
        let ours = self
            .locks
            .get(key)
            .is_some_and(|lock| lock.holder.token == token);
        if ours {
            self.hand_on(key, now);
        }
        ours
    }

    /// Takes `key` from its holder and gives it to the first in line.
    fn hand_on(&mut self, key: &str, now: Moment) {
        let token = self.mint();
        let Some(lock) = self.locks.get_mut(key) else {
            return;
        };
        lock.holder.timer = None;
        let Some(waiter) = lock.queue.pop_front() else {
            self.locks.remove(key);
            return;
        };
        lock.holder = Occupant::new(token, &waiter.label, &waiter.terms, now);
        // Until it is fetched: its caller may never be polled again.
        let unfetched = now + waiter.terms.first_ttl();
        lock.holder.expires = lock.holder.expires.min(unfetched);
        *lock_of(&waiter.granted) = Some(Grant { token, at: now });
        self.called.push(waiter);
        self.call_first(key);
    }

    /// Has the first in line look again at how long it has to wait.
    fn call_first(&mut self, key: &str) {
        let first = self.locks.get(key).and_then(|lock| lock.queue.front());
        self.called.extend(first.cloned());
    }
}

/// The state, under its mutex until this is dropped.
struct Locked<'a>(Option<MutexGuard<'a, State>>);

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.0.as_ref().expect("it is there until this is dropped")
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().expect("it is there until this is dropped")
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let called = mem::take(&mut self.called);
        self.0 = None;
        // With the mutex free: a waker is somebody else's code.
        for waiter in called {
            catch_panics(|| waiter.called.notify_one());
        }
    }
}

impl Occupant {
    fn new(token: FencingToken, label: &str, terms: &LeaseTerms, now: Moment) -> Occupant {
        Occupant {
            token,
            label: label.to_owned(),
            expires: span_of(terms).map_or(Moment::NEVER, |span| now + span),
            schedule: RenewalSchedule::granted(now, terms),
            lease: Weak::new(),
            timer: None,
        }
    }
}

impl ExpiryTimer {
    /// Tells the holder when its deadline passes. `None` where nobody keeps time for it: then it finds
    /// out when it looks at its clock.
    fn set(lease: &Arc<Lease>) -> Option<ExpiryTimer> {
        if lease.clock() == CLOCK {
            Some(ExpiryTimer::Task(task(lease)))
        } else {
            timer(lease).map(ExpiryTimer::Timer)
        }
    }

    /// The deadline was moved.
    fn moved(&mut self, lease: &Arc<Lease>) {
        // The task finds out by itself.
        if let ExpiryTimer::Timer(set) = self
            && let Some(timer) = timer(lease)
        {
            *set = timer;
        }
    }
}

impl Drop for ExpiryTimer {
    fn drop(&mut self) {
        if let ExpiryTimer::Task(task) = self {
            task.abort();
        }
    }
}

impl Timers {
    /// Those of a caller that goes by `clock`.
    fn of(clock: Clock) -> Result<Timers, LockError> {
        if clock == CLOCK {
            Ok(Timers::Runtime)
        } else {
            Background::get().map(Timers::Background)
        }
    }

    fn now(&self) -> Moment {
        match self {
            Timers::Runtime => CLOCK.now(),
            Timers::Background(_) => Clock::Real.now(),
        }
    }

    async fn sleep(&self, span: Duration) {
        match self {
            Timers::Runtime => tokio::time::sleep(span).await,
            Timers::Background(background) => background.sleep(span).await,
        }
    }
}

impl Memory {
    pub(crate) fn new() -> Arc<Memory> {
        Arc::new(Memory {
            owner: OwnerId::from_random(ClientId::from_random([0; 6]), [0; 11]),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> Locked<'_> {
        Locked(Some(lock_of(&self.state)))
    }

    /// Makes the hold of a grant, and sets the timer that ends it.
    fn lease(self: &Arc<Memory>, request: &Request, clock: Clock, grant: Grant) -> Arc<Lease> {
        let lease = Arc::new(Lease::new(
            request.lock().key.clone(),
            self.owner,
            grant.token,
            request.terms,
            (request.function, request.template),
            clock,
            &RenewalSchedule::granted(grant.at, &request.terms),
        ));
        let span = span_of(&request.terms);
        // What renewals would do bit by bit.
        let margin = margin(request.terms.first_ttl());
        lease.extend(span.map_or(Moment::NEVER, |span| grant.at + span.saturating_sub(margin)));
        let mut state = self.state();
        let lock = state.locks.get_mut(request.lock().key.as_str());
        if let Some(lock) = lock.filter(|lock| lock.holder.token == grant.token) {
            lock.holder.lease = Arc::downgrade(&lease);
            lock.holder.timer = span.and_then(|_| ExpiryTimer::set(&lease));
        }
        drop(state);
        lease
    }

    /// Gives a free lock to somebody who keeps it until [dismissed](Memory::dismiss).
    pub(crate) fn admit(&self, key: &str, label: &str) -> Result<Stranger, LockError> {
        let now = CLOCK.now();
        let mut state = self.state();
        state.expire(key, now);
        match state.locks.get(key) {
            Some(lock) => Err(busy(&lock.holder)),
            None => Ok(Stranger(state.take(key, label, &FOR_EVER, now).token)),
        }
    }

    pub(crate) fn dismiss(&self, key: &str, stranger: Stranger) {
        self.state().free(key, stranger.0, CLOCK.now());
    }

    /// Takes a lock from its holder, who is told, and says whether there was one.
    pub(crate) fn dispossess(&self, key: &str) -> bool {
        let holder = {
            let mut state = self.state();
            state.expire(key, CLOCK.now());
            let lock = state.locks.get(key);
            lock.and_then(|lock| lock.holder.lease.upgrade())
        };
        // Told without the mutex: whoever listens may be a test that asks for locks.
        let lost = holder.filter(|lease| lease.loss().is_none());
        lost.is_some_and(|lease| {
            lease.lose(LossReason::NotOurs);
            self.state().free(key, lease.token, CLOCK.now())
        })
    }

    /// Waits in line until the lock is granted or `until` has passed.
    async fn wait(
        &self,
        key: &str,
        waiter: &Arc<Waiter>,
        timers: &Timers,
        until: Moment,
    ) -> Option<Grant> {
        loop {
            let called = waiter.called.notified();
            let now = timers.now();
            let wake = {
                let mut state = self.state();
                state.expire(key, now);
                let granted = lock_of(&waiter.granted).take();
                match (granted, state.locks.get_mut(key)) {
                    (Some(grant), Some(lock)) if lock.holder.token == grant.token => {
                        lock.holder.expires = expiry(grant, &waiter.terms);
                        return Some(grant);
                    }
                    // It lapsed before anybody came to fetch it: from the back of the line again.
                    (Some(_), Some(lock)) => {
                        lock.queue.push_back(waiter.clone());
                        lock.holder.expires
                    }
                    (Some(_), None) => {
                        return Some(state.take(key, &waiter.label, &waiter.terms, now));
                    }
                    (None, Some(lock)) => lock.holder.expires,
                    (None, None) => until,
                }
            };
            if now >= until {
                return None;
            }
            tokio::select! {
                biased;
                () = called => {}
                () = timers.sleep(until.min(wake).since(now)) => {}
            }
        }
    }

    /// Acquires for a caller that goes by `clock`, and polls this wherever it is.
    pub(crate) async fn acquire_by(
        self: Arc<Memory>,
        clock: Clock,
        request: Request,
    ) -> Result<Undelivered, LockError> {
        if clock != CLOCK {
            Background::refuse_forked()?;
        }
        let key = request.lock().key.as_str();
        let now = clock.now();
        let (waiter, timers) = {
            let mut state = self.state();
            state.expire(key, now);
            match state.locks.get_mut(key) {
                None => {
                    let grant = state.take(key, &request.label, &request.terms, now);
                    drop(state);
                    return Ok(Undelivered::new(
                        self.clone(),
                        self.lease(&request, clock, grant),
                    ));
                }
                Some(lock) if request.wait.is_zero() => return Err(busy(&lock.holder)),
                Some(lock) => {
                    let timers = Timers::of(clock)?;
                    let waiter = Arc::new(Waiter {
                        label: request.label.clone(),
                        terms: request.terms,
                        granted: Mutex::default(),
                        called: Notify::new(),
                    });
                    lock.queue.push_back(waiter.clone());
                    (waiter, timers)
                }
            }
        };
        let leaving = Leaving {
            memory: &self,
            key,
            waiter: &waiter,
            clock,
        };
        let until = now + request.wait;
        let granted = self.wait(key, &waiter, &timers, until).await;
        match granted {
            Some(grant) => {
                std::mem::forget(leaving);
                Ok(Undelivered::new(
                    self.clone(),
                    self.lease(&request, clock, grant),
                ))
            }
            None => {
                let holder = self.state().locks.get(key).map(|lock| busy(&lock.holder));
                Err(holder.unwrap_or_else(|| LockError::new(LockErrorKind::Busy)))
            }
        }
    }
}

impl Abandon for Memory {
    fn abandon(self: Arc<Memory>, lease: Arc<Lease>) {
        self.state()
            .free(lease.keys.first().as_str(), lease.token, lease.now());
    }
}

impl Backend for Memory {
    fn clock(&self) -> Clock {
        CLOCK
    }

    async fn acquire(self: Arc<Memory>, request: Request) -> Result<Undelivered, LockError> {
        // tokio's timers need a runtime.
        let clock = Handle::try_current().map_or(Clock::Real, |_| CLOCK);
        self.acquire_by(clock, request).await
    }

    fn delivered(&self, lease: &Lease) {
        lease.delivered();
    }

    async fn renew(self: Arc<Memory>, lease: Arc<Lease>) -> Result<(), LockError> {
        if let Some(loss) = lease.loss() {
            return Err(lease.lost_error(loss));
        }
        let key = lease.keys.first().as_str();
        let now = lease.now();
        let mut state = self.state();
        state.expire(key, now);
        let Some(lock) = state
            .locks
            .get_mut(key)
            .filter(|lock| lock.holder.token == lease.token)
        else {
            drop(state);
            return Err(lease.lost_error(lease.lose(LossReason::NotOurs)));
        };
        if !lease.terms.renew {
            let extension = lock.holder.schedule.extension(now);
            lock.holder.schedule.confirmed(now, extension);
            lock.holder.expires = lock.holder.expires.max(now + extension);
            lease.extend(lock.holder.schedule.deadline());
            if let Some(timer) = &mut lock.holder.timer {
                timer.moved(&lease);
            }
            state.call_first(key);
        }
        Ok(())
    }

    async fn release(self: Arc<Memory>, lease: Arc<Lease>) -> ReleaseOutcome {
        if self
            .state()
            .free(lease.keys.first().as_str(), lease.token, lease.now())
        {
            ReleaseOutcome::Freed
        } else {
            ReleaseOutcome::NotOurs
        }
    }

    fn live(&self) -> Vec<Arc<Lease>> {
        let state = self.state();
        state
            .locks
            .values()
            .filter_map(|lock| lock.holder.lease.upgrade())
            .collect()
    }

    async fn settled(&self) {}
}

/// Leaves the line when a waiter gives up or its future is dropped, and passes on a lock that it
/// was granted meanwhile.
struct Leaving<'a> {
    memory: &'a Memory,
    key: &'a str,
    waiter: &'a Arc<Waiter>,
    clock: Clock,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.memory.state();
        let granted = lock_of(&self.waiter.granted).take();
        if let Some(grant) = granted {
            state.free(self.key, grant.token, self.clock.now());
        } else if let Some(lock) = state.locks.get_mut(self.key) {
            lock.queue
                .retain(|waiter| !Arc::ptr_eq(waiter, self.waiter));
            state.call_first(self.key);
        }
    }
}

/// Tells a holder on this runtime when its deadline passes, however often that is moved.
fn task(lease: &Arc<Lease>) -> AbortHandle {
    let lease = Arc::downgrade(lease);
    let task = tokio::spawn(async move {
        while let Some(left) = lease.upgrade().and_then(|lease| match lease.loss() {
            None => Some(lease.deadline().since(lease.now())),
            Some(_) => None,
        }) {
            // tokio's timer counts whole milliseconds; a little more than due is soon enough.
            tokio::time::sleep(left).await;
        }
    });
    task.abort_handle()
}

/// Tells a holder of the real clock when its deadline, as it is now, passes.
fn timer(lease: &Arc<Lease>) -> Option<Timer<'static>> {
    struct Look(Weak<Lease>);

    impl Wake for Look {
        fn wake(self: Arc<Look>) {
            // Whoever finds a hold over says so.
            let _ = self.0.upgrade().map(|lease| lease.loss());
        }
    }

    let until = Instant::now().checked_add(lease.deadline().since(lease.now()))?;
    let look = Waker::from(Arc::new(Look(Arc::downgrade(lease))));
    Some(Background::get().ok()?.timers().timer_at(until, &look))
}

fn busy(holder: &Occupant) -> LockError {
    LockError::new(LockErrorKind::Busy).with_holder(Holder::Ours(holder.label.clone()).describe())
}

/// A panic elsewhere cannot leave these maps half-changed: nothing in between can panic.
fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::LockGuard;
    use crate::backend::any::AnyBackend;
    use crate::client::LockClient;

    const KEY: &str = "order:42";
    const LONG: Duration = Duration::from_secs(60);

    fn store(client: &LockClient) -> Arc<Memory> {
        match &client.core().backend {
            AnyBackend::Memory(memory) => memory.clone(),
            AnyBackend::Redis(_) => panic!("it is a memory client"),
        }
    }

    fn take(client: &LockClient) -> Result<LockGuard, LockError> {
        client.lock(KEY).wait(LONG).acquire_blocking()
    }

    fn eventually(what: &str, condition: impl Fn() -> bool) {
        let begun = Instant::now();
        while !condition() {
            assert!(begun.elapsed() < LONG, "{what} never came");
            thread::yield_now();
        }
    }

    /// Blocks until so many wait in line.
    fn line_of(client: &LockClient, number: usize) {
        let memory = store(client);
        eventually("a waiter", || {
            memory.state().locks[KEY].queue.len() == number
        });
    }

    #[test]
    fn threads_and_futures_without_a_runtime_are_served_in_order() {
        let client = LockClient::memory();
        let first = take(&client).unwrap();
        let (served, order) = mpsc::channel();
        thread::scope(|scope| {
            for place in 0..6 {
                let (client, served) = (client.clone(), served.clone());
                let waiting = client.clone();
                scope.spawn(move || {
                    let guard = match place % 3 {
                        0 => take(&client),
                        1 => pollster::block_on(client.lock(KEY).wait(LONG).acquire()),
                        _ => tokio::runtime::Builder::new_current_thread()
                            .build()
                            .unwrap()
                            .block_on(async { take(&client) }),
                    };
                    served.send(place).unwrap();
                    guard.unwrap().release_blocking().unwrap();
                });
                line_of(&waiting, place + 1);
            }
            first.release_blocking().unwrap();
        });
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert!(store(&client).state().locks.is_empty());
    }

    #[test]
    fn a_thread_that_waits_leaves_the_line_at_a_shutdown() {
        let client = LockClient::builder().url("memory://");
        let client = client.shutdown_grace(Duration::ZERO).build().unwrap();
        let _held = take(&client).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| take(&client).unwrap_err());
            line_of(&client, 1);
            pollster::block_on(client.shutdown());
            let refused = waiting.join().unwrap();
            assert_eq!(refused.kind(), LockErrorKind::Shutdown, "{refused}");
        });
        let memory = store(&client);
        let state = memory.state();
        let queue = state.locks.get(KEY).map(|lock| lock.queue.len());
        assert_eq!(queue.unwrap_or(0), 0);
    }

    #[test]
    fn a_holder_on_a_thread_is_told_of_its_end_and_the_next_one_served() {
        let client = LockClient::memory();
        let schedule = || client.lock(KEY).wait(LONG).renew(false);
        let held = schedule().ttl(Duration::from_secs(2)).acquire_blocking();
        let held = held.unwrap();
        thread::scope(|scope| {
            let next = scope.spawn(|| take(&client));
            // It moves the deadline: the alarm that was set is not the last.
            line_of(&client, 1);
            pollster::block_on(held.renew()).unwrap();
            assert!(held.is_valid());
            // Without a look at its clock.
            eventually("the end", || held.frame().lease().is_known_lost());
            next.join().unwrap().unwrap().release_blocking().unwrap();
        });
        assert!(held.release_blocking().unwrap_err().is_lost());
    }
}
