//! Returns a failure of the lock: by a trait of the return type, never by its name.

use std::convert::Infallible;

use super::body_error::{Refused, Returned};
use crate::client::LockGuard;
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;

/// A return type that can carry a failure of the lock. `G` is whether it must; see [`Failing`].
///
/// [`Failing`]: super::body_error::Failing
#[diagnostic::on_unimplemented(
    message = "cannot return a lock failure as `{Self}`; return a `Result` or add `or_else`",
    label = "the lock may be busy or unreachable, and this type cannot report that",
    note = "for example `Result<{Self}, LockError>`, or `or_else = |error| …` in the attribute"
)]
pub trait FromLockError<G> {
    /// Returns the value for a lock that was not acquired, or was lost.
    fn from_lock_error(goes: G, error: LockError) -> Self;
}

impl<T, E: LockFailure> FromLockError<Returned> for Result<T, E> {
    fn from_lock_error(_: Returned, error: LockError) -> Result<T, E> {
        Err(E::from_lock_failure(error))
    }
}

macro_rules! unreachable_for {
    ($($goes:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<R> FromLockError<$goes> for R {
            fn from_lock_error(_: $goes, error: LockError) -> R {
                unreachable!("a function that does not compile failed to lock: {error}")
            }
        }
    )*};
}

// Two impls: the compiler would pick a single impl for types other than `Result` before it knows where the failure
// goes.
unreachable_for!(Refused, Infallible);

/// An error type that can carry a failure of the lock.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a lock failure",
    label = "`{Self}` must implement `From<lock_runtime::LockError>`",
    note = "add `impl From<LockError> for {Self}`, with thiserror a variant `Lock(#[from] LockError)`; for a type parameter the bound `{Self}: From<LockError>`",
    note = "or give `or_else` the value to return instead"
)]
pub trait LockFailure {
    /// Returns the error for a lock that was not acquired, or was lost.
    fn from_lock_failure(error: LockError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<LockError>> LockFailure for E {
    fn from_lock_failure(error: LockError) -> E {
        E::from(error)
    }
}

/// Calls the closure of `or_else = …`. Infers its argument, and checks its result against the return type.
pub fn or_else<R, F: FnOnce(LockError) -> R>(error: LockError, answer: F) -> R {
    answer(error)
}

/// Stands for the guard in a function whose attribute is wrong: the body still compiles, and the attribute has the only
/// error.
///
/// # Panics
///
/// Always: no program that calls it is ever built.
pub fn absent_guard<'a>() -> &'a LockGuard {
    unreachable!("the attribute of this function was refused")
}

/// Stands for the token in a function whose attribute is wrong, like [`absent_guard`].
///
/// # Panics
///
/// Always: no program that calls it is ever built.
pub fn absent_token() -> FencingToken {
    unreachable!("the attribute of this function was refused")
}
