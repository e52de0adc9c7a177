//! What a body returned, for any return type: an error of its own, or a future, whose work the lock
//! would not cover.
//!
//! The compiler takes the first method that fits, so nothing here needs a bound on the return type.
//! The methods have names that no other trait in scope will have.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use super::failure::FromLockError;
use crate::error::LockError;

/// A result to be looked at: `(&Outcome(&result)).lock_body_failed()`.
///
/// For a `Result` the inherent method below is found first, then for a future the one of
/// [`OutcomeOfFuture`], and for anything else, also for a type parameter, that of [`NotAResult`].
#[derive(Debug)]
pub struct Outcome<'a, R>(pub &'a R);

impl<T, E> Outcome<'_, Result<T, E>> {
    /// Whether the body failed by itself.
    pub fn lock_body_failed(&self) -> bool {
        self.0.is_err()
    }
}

/// Refuses a function that returns a future: it would be unlocked as soon as it returns, and the
/// future would run afterwards.
#[diagnostic::on_unimplemented(
    message = "this function returns a future, which would run after the lock was released",
    label = "`{Self}` is a future",
    note = "make it an `async fn` that awaits it, or end it with an `async move {{ … }}` block"
)]
pub trait NotAFuture {}

/// Return types that are futures.
pub trait OutcomeOfFuture<R> {
    /// Refuses the type.
    fn lock_body_failed(&self) -> bool
    where
        R: NotAFuture;
}

impl<R: Future> OutcomeOfFuture<R> for Outcome<'_, R> {
    fn lock_body_failed(&self) -> bool
    where
        R: NotAFuture,
    {
        false
    }
}

/// Return types that have no failure of their own.
pub trait NotAResult {
    /// Whether the body failed by itself: it cannot.
    fn lock_body_failed(&self) -> bool;
}

impl<R> NotAResult for &Outcome<'_, R> {
    fn lock_body_failed(&self) -> bool {
        false
    }
}

/// What is to become of a failure of the lock in a function that returns `R`, in the way of
/// [`Outcome`]. A future is refused there, and has to be an answer here, or it would be refused
/// twice, once with advice that does not help.
pub struct Failing<R>(PhantomData<fn() -> R>);

impl<R> Failing<R> {
    /// A failure in a function that returns `R`.
    pub const NEW: Failing<R> = Failing(PhantomData);
}

impl<R> fmt::Debug for Failing<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing")
    }
}

impl<R: Future> Failing<R> {
    /// No function that returns a future compiles.
    ///
    /// # Panics
    ///
    /// Always.
    pub fn lock_failure_as_result(&self, error: LockError) -> R {
        unreachable!("a function that returns a future was refused, and not called: {error}")
    }
}

/// Return types that are no futures.
pub trait LockFailureOf<R> {
    /// The return value that says that the lock was not had, or was lost.
    fn lock_failure_as_result(&self, error: LockError) -> R
    where
        R: FromLockError;
}

impl<R> LockFailureOf<R> for Failing<R> {
    fn lock_failure_as_result(&self, error: LockError) -> R
    where
        R: FromLockError,
    {
        R::from_lock_error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic<R>(output: &R) -> bool {
        (&Outcome(output)).lock_body_failed()
    }

    #[test]
    fn only_a_results_own_error_is_a_failure() {
        type Alias = Result<u8, String>;
        assert!((&Outcome(&Alias::Err(String::new()))).lock_body_failed());
        assert!(!(&Outcome(&Alias::Ok(1))).lock_body_failed());
        assert!(!(&Outcome(&None::<u8>)).lock_body_failed());
        assert!(!(&Outcome(&())).lock_body_failed());
    }

    #[test]
    fn a_type_parameter_is_not_looked_into() {
        assert!(!generic(&Err::<u8, u8>(1)));
    }
}
