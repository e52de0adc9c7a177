//! Locks that live in this process.
//!
//! A store is a map under a mutex; whoever waits, waits on its caller's runtime, with its timers,
//! so time that a test has paused works. A lease that is renewed cannot lapse here: store and
//! holder live and die together, so there is no missed renewal to model, and its renewal is the
//! statement that it does not expire. What can end is a lease without renewal and one with
//! `max_hold`; a task on the caller's runtime tells the holder, and the first in line is told by
//! a timer of its own, so neither needs the other's runtime.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::clock::Clock;
use crate::engine::{Backend, Released, Request};
use crate::error::{LockError, LockErrorKind};
use crate::hold::{Hold, Loss};
use crate::model::lease::{Lease, margin};
use crate::model::moment::Moment;
use crate::model::owner::{Owner, ProcessId};
use crate::model::record::Holder;
use crate::model::token::FencingToken;

const CLOCK: Clock = Clock::Tokio;

/// One store.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The same for every hold: within one store the token says whose it is.
    owner: Owner,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Every key that is held or waited for.
    locks: HashMap<String, Lock>,
    last_token: u64,
}

#[derive(Debug)]
struct Lock {
    holder: Holding,
    queue: VecDeque<Arc<Seat>>,
}

/// Who holds a lock, until when.
#[derive(Debug)]
struct Holding {
    token: FencingToken,
    label: String,
    expires: Moment,
    hold: Weak<Hold>,
    /// Tells the holder that its lease has ended.
    alarm: Option<AbortHandle>,
}

/// A place in line.
#[derive(Debug)]
struct Seat {
    label: String,
    expiry: Expiry,
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

/// When a lease ends if nobody extends it.
#[derive(Clone, Copy, Debug)]
struct Expiry(Option<std::time::Duration>);

impl Expiry {
    fn of(request: &Request) -> Expiry {
        let terms = &request.terms;
        Expiry(if terms.renew {
            terms.max_hold
        } else {
            Some(terms.first_ttl())
        })
    }

    fn from(self, now: Moment) -> Moment {
        self.0.map_or(Moment::NEVER, |span| now + span)
    }
}

impl State {
    fn mint(&mut self) -> FencingToken {
        self.last_token += FencingToken::STEP;
        FencingToken::new(self.last_token)
    }

    /// Takes a lock that nobody holds or waits for.
    fn take(&mut self, request: &Request, now: Moment) -> Grant {
        let token = self.mint();
        let expires = Expiry::of(request).from(now);
        let holder = Holding::new(token, &request.label, expires);
        let queue = VecDeque::new();
        let key = request.key.as_str().to_owned();
        self.locks.insert(key, Lock { holder, queue });
        Grant { token, at: now }
    }

    /// Frees `key` if its lease has ended.
    fn expire(&mut self, key: &str, now: Moment) {
        while let Some(lock) = self.locks.get(key)
            && now >= lock.holder.expires
        {
            if let Some(hold) = lock.holder.hold.upgrade() {
                hold.loss();
            }
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
        if let Some(alarm) = lock.holder.alarm.take() {
            alarm.abort();
        }
        let Some(seat) = lock.queue.pop_front() else {
            self.locks.remove(key);
            return;
        };
        lock.holder = Holding::new(token, &seat.label, seat.expiry.from(now));
        *lock_of(&seat.granted) = Some(Grant { token, at: now });
        seat.called.notify_one();
        if let Some(first) = lock.queue.front() {
            first.called.notify_one();
        }
    }
}

impl Holding {
    fn new(token: FencingToken, label: &str, expires: Moment) -> Holding {
        Holding {
            token,
            label: label.to_owned(),
            expires,
            hold: Weak::new(),
            alarm: None,
        }
    }
}

impl Memory {
    pub(crate) fn new() -> Arc<Memory> {
        Arc::new(Memory {
            owner: Owner::from_random(ProcessId::from_random([0; 6]), [0; 11]),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock_of(&self.state)
    }

    /// Makes the hold of a grant, and sets the alarm that ends it.
    fn hold(self: &Arc<Memory>, request: &Request, grant: Grant) -> Arc<Hold> {
        let lease = Lease::granted(grant.at, &request.terms);
        let lapses = Expiry::of(request).0;
        let hold = Arc::new(Hold::new(
            request.key.clone(),
            self.owner,
            grant.token,
            request.terms,
            (request.function, request.template),
            CLOCK,
            &lease,
        ));
        // What a renewal would do bit by bit.
        let margin = margin(request.terms.first_ttl());
        hold.extend(lapses.map_or(Moment::NEVER, |span| grant.at + span.saturating_sub(margin)));
        let mut state = self.state();
        let lock = state.locks.get_mut(request.key.as_str());
        if let Some(lock) = lock.filter(|lock| lock.holder.token == grant.token) {
            lock.holder.hold = Arc::downgrade(&hold);
            lock.holder.alarm = lapses.map(|_| alarm(&hold));
        }
        drop(state);
        hold
    }

    /// Waits in line until the lock is granted or `until` has passed.
    async fn wait(&self, key: &str, seat: &Arc<Seat>, until: Moment) -> Option<Grant> {
        loop {
            let called = seat.called.notified();
            let expires = {
                let mut state = self.state();
                state.expire(key, CLOCK.now());
                if let Some(grant) = lock_of(&seat.granted).take() {
                    return Some(grant);
                }
                state
                    .locks
                    .get(key)
                    .map_or(until, |lock| lock.holder.expires)
            };
            let now = CLOCK.now();
            if now >= until {
                return None;
            }
            tokio::select! {
                biased;
                () = called => {}
                () = tokio::time::sleep(until.min(expires).since(now)) => {}
            }
        }
    }
}

impl Backend for Memory {
    fn clock(&self) -> Clock {
        CLOCK
    }

    async fn acquire(self: Arc<Memory>, request: Request) -> Result<Arc<Hold>, LockError> {
        let key = request.key.as_str();
        let now = CLOCK.now();
        let seat = {
            let mut state = self.state();
            state.expire(key, now);
            match state.locks.get_mut(key) {
                None => {
                    let grant = state.take(&request, now);
                    drop(state);
                    return Ok(self.hold(&request, grant));
                }
                Some(lock) if request.wait.is_zero() => return Err(busy(&lock.holder)),
                Some(lock) => {
                    let seat = Arc::new(Seat {
                        label: request.label.clone(),
                        expiry: Expiry::of(&request),
                        granted: Mutex::default(),
                        called: Notify::new(),
                    });
                    lock.queue.push_back(seat.clone());
                    seat
                }
            }
        };
        let leaving = Leaving {
            memory: &self,
            key,
            seat: &seat,
        };
        let granted = self.wait(key, &seat, now + request.wait).await;
        match granted {
            Some(grant) => {
                std::mem::forget(leaving);
                Ok(self.hold(&request, grant))
            }
            None => {
                let holder = self.state().locks.get(key).map(|lock| busy(&lock.holder));
                Err(holder.unwrap_or_else(|| LockError::new(LockErrorKind::Busy)))
            }
        }
    }

    async fn renew(self: Arc<Memory>, hold: Arc<Hold>) -> Result<(), LockError> {
        if let Some(loss) = hold.loss() {
            return Err(hold.lost_error(loss));
        }
        let key = hold.key.as_str();
        let now = CLOCK.now();
        let mut state = self.state();
        state.expire(key, now);
        let Some(lock) = state
            .locks
            .get_mut(key)
            .filter(|lock| lock.holder.token == hold.token)
        else {
            return Err(hold.lost_error(hold.lose(Loss::NotOurs)));
        };
        if hold.terms.max_hold.is_none() && !hold.terms.renew {
            let mut lease = Lease::granted(now, &hold.terms);
            lease.confirmed(now, hold.terms.ttl);
            lock.holder.expires = now + hold.terms.ttl;
            hold.extend(lease.deadline());
            if let Some(first) = lock.queue.front() {
                first.called.notify_one();
            }
        }
        Ok(())
    }

    async fn release(self: Arc<Memory>, hold: Arc<Hold>) -> Released {
        if self
            .state()
            .free(hold.key.as_str(), hold.token, CLOCK.now())
        {
            Released::Freed
        } else {
            Released::NotOurs
        }
    }

    fn abandon(self: Arc<Memory>, hold: Arc<Hold>) {
        self.state()
            .free(hold.key.as_str(), hold.token, CLOCK.now());
    }

    fn live(&self) -> Vec<Arc<Hold>> {
        let state = self.state();
        state
            .locks
            .values()
            .filter_map(|lock| lock.holder.hold.upgrade())
            .collect()
    }

    async fn settled(&self) {}
}

/// Leaves the line when a waiter gives up or its future is dropped, and passes on a lock that it
/// was granted meanwhile.
struct Leaving<'a> {
    memory: &'a Memory,
    key: &'a str,
    seat: &'a Arc<Seat>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.memory.state();
        let granted = lock_of(&self.seat.granted).take();
        if let Some(grant) = granted {
            state.free(self.key, grant.token, CLOCK.now());
        } else if let Some(lock) = state.locks.get_mut(self.key) {
            lock.queue.retain(|seat| !Arc::ptr_eq(seat, self.seat));
            if let Some(first) = lock.queue.front() {
                first.called.notify_one();
            }
        }
    }
}

/// Wakes the holder when its deadline passes, however often that is moved.
fn alarm(hold: &Arc<Hold>) -> AbortHandle {
    let hold = Arc::downgrade(hold);
    let task = tokio::spawn(async move {
        while let Some(left) = hold.upgrade().and_then(|hold| match hold.loss() {
            None => Some(hold.deadline().since(hold.now())),
            Some(_) => None,
        }) {
            // tokio's timer counts whole milliseconds; a little more than due is soon enough.
            tokio::time::sleep(left).await;
        }
    });
    task.abort_handle()
}

fn busy(holder: &Holding) -> LockError {
    LockError::new(LockErrorKind::Busy).with_holder(Holder::Ours(holder.label.clone()).describe())
}

/// A panic elsewhere cannot leave these maps half-changed: nothing in between can panic.
fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
