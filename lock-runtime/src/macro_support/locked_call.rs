//! Runs one call of a locked function: drives an asynchronous body, or runs a synchronous one.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::backend::caller::{Caller, on_this_thread};
use crate::background::sync::Mutex;
use crate::call_tree::OnLost;
use crate::call_tree::body::{BodyDriver, Drive};
use crate::client::LockGuard;
use crate::client::body_end::{BodyEnd, release_after};
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;

/// The lock of one call, from the first request until it is released.
///
/// A call stays in its place in the future of the locked function, and the awaited futures only borrow it. So the
/// locked function's future has one thing to drop, and the code for that exists once.
#[derive(Debug)]
#[must_use = "a call drives its body"]
pub struct Call(State);

/// Returns the token of a guard that was acquired together with it.
///
/// # Panics
///
/// If the guard has none; no expansion calls it then.
#[inline(never)]
pub fn token(guard: &LockGuard) -> FencingToken {
    let token = guard.token();
    token.expect("a call that asks for a token has one before its body")
}

enum State {
    /// Boxed, since it would add some 900 bytes to the future of every locked function. In a mutex that is never
    /// locked, so that the call is `Sync` though the future in it is not.
    Acquiring(Boxed<LockGuard>),
    Held(LockGuard),
    Releasing(Boxed<()>),
    Over,
}

type Boxed<T> = Mutex<Pin<Box<dyn Future<Output = Result<T, LockError>> + Send>>>;

impl Call {
    pub(super) fn new(
        acquiring: impl Future<Output = Result<LockGuard, LockError>> + Send + 'static,
    ) -> Call {
        Call(State::Acquiring(Mutex::new(Box::pin(acquiring))))
    }

    /// Waits for the lock.
    ///
    /// # Errors
    ///
    /// The errors of [`Acquire::acquire`](crate::Acquire::acquire), and `NotInstalled`.
    pub fn acquired(&mut self) -> Acquired<'_> {
        Acquired(self)
    }

    /// Returns the guard, between acquisition and release.
    ///
    /// # Panics
    ///
    /// At any other time; no expansion calls it then.
    #[inline(never)]
    pub fn guard(&self) -> &LockGuard {
        match &self.0 {
            State::Held(guard) => guard,
            _ => unreachable!("the body of a call runs between its acquisition and its release"),
        }
    }

    /// Returns the token of a call that asked for one, between acquisition and release.
    ///
    /// # Panics
    ///
    /// At any other time; no expansion calls it then.
    #[inline(never)]
    pub fn token(&self) -> FencingToken {
        token(self.guard())
    }

    /// Runs `body` under the lock. `Err` means that the lock was lost and the body dropped.
    pub fn drive<'a, B>(&'a self, on_lost: OnLost, body: Pin<&'a mut Option<B>>) -> Drive<'a, B> {
        self.driver(on_lost).drive(body)
    }

    #[inline(never)]
    fn driver(&self, on_lost: OnLost) -> BodyDriver<'_> {
        self.guard().driver(on_lost)
    }

    /// Releases the lock after a body with this end. `Err` replaces the body's result.
    ///
    /// # Errors
    ///
    /// `Lost`: the lock was not held throughout, and neither the attribute nor the body's own error keeps the result.
    #[inline(never)]
    pub fn released(&mut self, on_lost: OnLost, end: BodyEnd) -> Released<'_> {
        if let State::Held(guard) = std::mem::replace(&mut self.0, State::Over) {
            self.0 = State::Releasing(Mutex::new(Box::pin(release_after(
                Caller::Task,
                guard,
                on_lost,
                end,
            ))));
        }
        Released(self)
    }
}

/// Polls without locking the mutex: the future is borrowed mutably.
fn poll_boxed<T>(boxed: &mut Boxed<T>, cx: &mut Context<'_>) -> Poll<Result<T, LockError>> {
    let future = boxed.get_mut();
    future.as_mut().poll(cx)
}

/// The future of [`Call::acquired`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Acquired<'a>(&'a mut Call);

impl Future for Acquired<'_> {
    type Output = Result<(), LockError>;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let state = &mut self.get_mut().0.0;
        let State::Acquiring(acquiring) = state else {
            unreachable!("a call acquires once");
        };
        poll_boxed(acquiring, cx).map(|acquired| {
            *state = State::Over;
            *state = State::Held(acquired?);
            Ok(())
        })
    }
}

/// The future of [`Call::released`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Released<'a>(&'a mut Call);

impl Future for Released<'_> {
    type Output = Result<(), LockError>;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let state = &mut self.get_mut().0.0;
        let State::Releasing(releasing) = state else {
            unreachable!("a call is released once, after it was held");
        };
        poll_boxed(releasing, cx).map(|released| {
            *state = State::Over;
            released
        })
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Acquiring(_) => "Acquiring",
            State::Held(_) => "Held",
            State::Releasing(_) => "Releasing",
            State::Over => "Over",
        })
    }
}

/// Runs a synchronous body inside the call tree of `guard`.
pub fn run_blocking<R>(guard: &LockGuard, body: impl FnOnce() -> R) -> R {
    guard.run_body_blocking(body)
}

/// Releases the lock after a body with this end. `Err` replaces the body's result.
///
/// # Errors
///
/// `Lost`: the lock was not held throughout, and neither the attribute nor the body's own error keeps the result.
pub fn release_after_blocking(
    guard: LockGuard,
    on_lost: OnLost,
    end: BodyEnd,
) -> Result<(), LockError> {
    on_this_thread(release_after(Caller::Thread, guard, on_lost, end))
}
