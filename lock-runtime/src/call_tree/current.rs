//! The scope whose body is being polled on this thread.
//!
//! A thread-local holds the innermost scope of a call tree, but only while one of its bodies is being polled; tracing
//! enters spans in the same way. So the tree moves with the future from thread to thread. Other tasks of the thread
//! cannot see it, nor can a task that a body drives itself.

use std::cell::RefCell;
use std::sync::Arc;

use tokio::task;

use super::frame::Frame;
use super::scope::{Found, Nesting, Scope};

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// A scope while a body of it is being polled, and the task that polls it.
///
/// A body can itself drive other tasks, with a `LocalSet` or with `block_on` of a runtime on this thread. The calls of
/// such a task are not the body's.
#[derive(Debug)]
pub(crate) struct Current {
    scope: Arc<Scope>,
    task: Option<task::Id>,
}

impl Current {
    pub(super) fn new(scope: Arc<Scope>) -> Current {
        let task = task::try_id();
        Current { scope, task }
    }

    fn scope_of_this_task(&self) -> Option<&Arc<Scope>> {
        (self.task == task::try_id()).then_some(&self.scope)
    }
}

/// Reads the current scope, if there is one. There is none while a thread exits and its thread-locals are being
/// dropped.
fn with_current<T>(read: impl FnOnce(&Arc<Scope>) -> Option<T>) -> Option<T> {
    let read =
        |current: &RefCell<Option<Current>>| read(current.borrow().as_ref()?.scope_of_this_task()?);
    CURRENT.try_with(read).ok().flatten()
}

pub(super) fn current() -> Option<Arc<Scope>> {
    with_current(|scope| Some(scope.clone()))
}

/// Finds what the current call tree holds when it asks for `key` of `client`.
pub(crate) fn find(client: u64, key: &str) -> Found {
    let find = |scope: &Arc<Scope>| {
        let found = scope.find(client, key).map(Found::Lock);
        Some(found.unwrap_or(Found::Other(Nesting::Locks)))
    };
    with_current(find).unwrap_or(Found::Other(Nesting::Nothing))
}

/// Identifies the innermost body of the current call tree, while that body is polled; `None` outside of every body.
pub(crate) fn place() -> Option<usize> {
    with_current(|scope| Some(Arc::as_ptr(scope).addr()))
}

/// Passes `see` a frame of each lease of `client` that the current call tree holds; see [`Scope::frames_of`].
pub(crate) fn for_each_hold(client: u64, see: impl FnMut(&Frame)) {
    with_current(|scope| {
        scope.frames_of(client).for_each(see);
        Some(())
    });
}

/// Makes `scope` the current one, and stores the previous one in its place. Each call must be followed by
/// [`leave`], also when the caller unwinds.
pub(super) fn enter(scope: &mut Option<Current>) {
    if let Some(scope) = scope {
        // A future may go from task to task between two polls.
        scope.task = task::try_id();
    }
    exchange(scope);
}

/// Restores the scope that [`enter`] replaced.
pub(super) fn leave(scope: &mut Option<Current>) {
    exchange(scope);
}

fn exchange(scope: &mut Option<Current>) {
    // While a thread exits, entering and leaving both swap nothing.
    let _ = CURRENT.try_with(|current| std::mem::swap(&mut *current.borrow_mut(), scope));
}

/// Makes `scope` the current one until the returned value is dropped, even by a panic.
pub(super) fn entered(scope: Option<Arc<Scope>>) -> Entered {
    let mut scope = scope.map(Current::new);
    enter(&mut scope);
    Entered { previous: scope }
}

/// Restores the previous scope when this is dropped.
pub(super) struct Entered {
    previous: Option<Current>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        leave(&mut self.previous);
        // The previous scope is dropped after this, when the cell is free again: it may be the last reference to its
        // frame.
    }
}
