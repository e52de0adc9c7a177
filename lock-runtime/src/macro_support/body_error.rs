//! Detects, for any return type, whether a body returned its own error or a future.
//!
//! A future is refused, since the lock would not cover its work. The compiler picks the first method that fits, so
//! nothing here needs a bound on the return type. The methods have names that no other trait in scope will have.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

/// The result of a body, to be examined by `(&BodyResult(&result)).lock_body_failed()`.
///
/// The compiler finds the inherent method below for a `Result`, and [`FutureResult`]'s for a future. For any other
/// type, including a type parameter, it finds [`NotAResult`]'s.
#[derive(Debug)]
pub struct BodyResult<'a, R>(pub &'a R);

impl<T, E> BodyResult<'_, Result<T, E>> {
    /// Returns whether the body returned its own error.
    pub fn lock_body_failed(&self) -> bool {
        self.0.is_err()
    }
}

/// Refuses a function that returns a future: the lock would be released when the function returns, and the future would
/// run afterwards.
#[diagnostic::on_unimplemented(
    message = "this function returns a future, which would run after the lock was released",
    label = "`{Self}` is a future",
    note = "make it an `async fn` that awaits it, or end it with an `async move {{ … }}` block"
)]
pub trait NotAFuture {}

/// Return types that are futures.
pub trait FutureResult<R> {
    /// Refuses the type.
    fn lock_body_failed(&self) -> bool
    where
        R: NotAFuture;
}

impl<R: Future> FutureResult<R> for BodyResult<'_, R> {
    fn lock_body_failed(&self) -> bool
    where
        R: NotAFuture,
    {
        false
    }
}

/// Return types other than `Result` and futures.
pub trait NotAResult {
    /// Returns `false`: this type cannot carry an error of the body.
    fn lock_body_failed(&self) -> bool;
}

impl<R> NotAResult for &BodyResult<'_, R> {
    fn lock_body_failed(&self) -> bool {
        false
    }
}

/// Whether a failure of the lock is returned as `R`, found like [`BodyResult`]'s answer:
/// `(&Failing::<R>::NEW).lock_failure_goes()`.
///
/// A future is refused above. Here it must be accepted, or it would be refused twice, once with advice that does not
/// help.
pub struct Failing<R>(PhantomData<fn() -> R>);

impl<R> Failing<R> {
    /// Asks about `R`.
    pub const NEW: Failing<R> = Failing(PhantomData);
}

impl<R> fmt::Debug for Failing<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing")
    }
}

/// Marks a type that returns the failure.
#[derive(Debug)]
pub struct Returned;

/// Marks a type that returns nothing, since the function does not compile.
#[derive(Debug)]
pub struct Refused;

impl<R: Future> Failing<R> {
    /// Returns [`Refused`]: the failure is not returned.
    pub fn lock_failure_goes(&self) -> Refused {
        Refused
    }
}

/// Return types that are not futures.
pub trait NoFuture {
    /// Returns [`Returned`]: the failure goes to the caller.
    fn lock_failure_goes(&self) -> Returned;
}

impl<R> NoFuture for &Failing<R> {
    fn lock_failure_goes(&self) -> Returned {
        Returned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic<R>(output: &R) -> bool {
        let outcome = &BodyResult(output);
        outcome.lock_body_failed()
    }

    #[test]
    fn only_an_error_of_a_result_is_a_failure() {
        type Alias = Result<u8, String>;
        let [failed, well] = [Alias::Err(String::new()), Alias::Ok(1)];
        let [failed, well] = [&BodyResult(&failed), &BodyResult(&well)];
        assert!(failed.lock_body_failed());
        assert!(!well.lock_body_failed());
        let (option, unit) = (&BodyResult(&None::<u8>), &BodyResult(&()));
        assert!(!option.lock_body_failed());
        assert!(!unit.lock_body_failed());
    }

    #[test]
    fn type_parameter_is_not_examined() {
        assert!(!generic(&Err::<u8, u8>(1)));
    }

    #[test]
    fn failure_is_returned_as_any_type_but_a_future() {
        let future = &Failing::<std::future::Ready<u8>>::NEW;
        let Refused = future.lock_failure_goes();
        let other = &Failing::<Result<u8, u8>>::NEW;
        let Returned = other.lock_failure_goes();
    }
}
