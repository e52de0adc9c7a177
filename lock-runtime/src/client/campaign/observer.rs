//! Lets a campaign see the locks of the call that it polls.
//!
//! A thread-local has the campaign whose call is being polled on this thread, like the scope of a
//! [call tree](crate::call_tree). A call outside of every campaign finds it empty, which is all that it pays.

use std::cell::RefCell;

use tokio::task;

use super::observed::Observed;
use crate::backend::any::AnyBackend;
use crate::call_tree;
use crate::error::LockError;
use crate::key::{LockKey, OneOrMore};

thread_local! {
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };
}

/// A campaign while it polls its call.
struct Observer {
    /// `Some`, but for a call that is polled while a panic unwinds through its campaign.
    observed: Option<Box<Observed>>,
    /// The task that polls the campaign: a body can itself drive other tasks, whose locks are not the call's.
    task: Option<task::Id>,
    /// The body in which the campaign runs. A lock that is taken further inside is not led.
    place: Option<usize>,
}

/// Polls a campaign's call, or drops it, while `observed` sees its locks.
pub(super) fn observe<T>(observed: &mut Option<Box<Observed>>, poll: impl FnOnce() -> T) -> T {
    let observing = Observing::begin(observed);
    let polled = poll();
    drop(observing);
    polled
}

/// Restores the outer campaign when this is dropped, even by a panic.
struct Observing<'a> {
    /// `None` while the thread-local has it.
    observed: &'a mut Option<Box<Observed>>,
    outer: Option<Observer>,
}

impl<'a> Observing<'a> {
    fn begin(observed: &'a mut Option<Box<Observed>>) -> Observing<'a> {
        let observer = Observer {
            observed: observed.take(),
            task: task::try_id(),
            place: call_tree::place(),
        };
        Observing {
            observed,
            outer: OBSERVER.replace(Some(observer)),
        }
    }
}

impl Drop for Observing<'_> {
    fn drop(&mut self) {
        if let Some(observer) = OBSERVER.replace(self.outer.take()) {
            *self.observed = observer.observed;
        }
    }
}

/// Reports that a call has its lock.
pub(in crate::client) fn granted(keys: &OneOrMore<LockKey>) {
    report(|observed| observed.grant(keys));
}

/// Reports that a call did not get its lock from this store, or lost it.
pub(in crate::client) fn failed(error: &LockError, backend: Option<&AnyBackend>) {
    report(|observed| observed.fail(error, backend));
}

/// Reports that a call releases its lock, until the result is dropped.
pub(in crate::client) fn releasing(keys: &OneOrMore<LockKey>) -> Releasing {
    report(|observed| observed.begin_release(keys));
    Releasing
}

/// The release of a call's lock.
#[derive(Debug)]
pub(in crate::client) struct Releasing;

impl Drop for Releasing {
    fn drop(&mut self) {
        report(Observed::end_release);
    }
}

fn report(report: impl FnOnce(&mut Observed)) {
    // While a thread exits there is none.
    let _ = OBSERVER.try_with(|observer| {
        if let Some(observer) = &mut *observer.borrow_mut()
            && observer.task == task::try_id()
            && observer.place == call_tree::place()
        {
            observer.observed.as_deref_mut().map(report);
        }
    });
}
