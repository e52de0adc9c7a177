//! Synchronous functions that return a future after all.

use std::future::Future;

/// Refuses futures by ambiguity: every type has the first implementation, a future the second one
/// too, and then the compiler cannot choose `M`. Its message shows the trait's name.
///
/// A synchronous function whose return type hides a future behind an alias would be unlocked as
/// soon as it returns, and run its future afterwards.
pub trait ThisFunctionReturnsAFutureAndWouldUnlockBeforeItRuns<M> {}

impl<R: ?Sized> ThisFunctionReturnsAFutureAndWouldUnlockBeforeItRuns<()> for R {}

/// The marker of the second implementation.
#[derive(Debug)]
pub enum FutureInDisguise {}

impl<R: Future + ?Sized> ThisFunctionReturnsAFutureAndWouldUnlockBeforeItRuns<FutureInDisguise>
    for R
{
}

/// Passes on what a synchronous body returned, if that is no future.
pub fn returned<R, M>(output: R) -> R
where
    R: ThisFunctionReturnsAFutureAndWouldUnlockBeforeItRuns<M>,
{
    output
}
