//! Who holds what in this call tree.
//!
//! A hold belongs to a *call tree*: to everything that is called, through async and sync alike,
//! below the body that runs under it. The tree is a chain of [`Scope`]s. Its innermost one stands
//! in a thread-local while a body of the tree is being polled, and only then, as a tracing span is
//! entered for each poll; so it travels with the future from thread to thread and is never seen
//! by a neighbour on the same thread, nor by a task that a body drives itself.
//!
//! A [`Frame`] is one level of nesting in one hold. It shares the duty to give the hold back, and
//! it occupies its parent frame's single turn. Two calls that were made side by side, as by
//! `join!`, have the same parent and so take turns; a call made inside another has that one as
//! its parent and goes down at once. Hence two bodies of one key run at the same time only if
//! one is nested in the other. Waiting for a turn cannot deadlock by itself: whoever has it is a
//! descendant of the same parent, and never waits for that parent's turn again, only for turns
//! further down.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::sync::Semaphore;
use tokio::task;

use crate::backend::owned_lease::OwnedLease;
use crate::background::panics::catch_panics;
use crate::lease::Share;

/// One level of nesting in a hold.
#[derive(Debug)]
pub(crate) struct Frame {
    held: Arc<OwnedLease>,
    /// One permit: the turn of the calls made directly below this frame. Few frames have any.
    turn: OnceLock<Box<Semaphore>>,
    /// This frame's place below its parent; `None` for the outermost.
    sibling_permit: Option<SiblingPermit>,
}

impl Frame {
    pub(crate) fn outermost(held: OwnedLease) -> Arc<Frame> {
        Frame::new(Arc::new(held), None)
    }

    fn new(held: Arc<OwnedLease>, sibling_permit: Option<SiblingPermit>) -> Arc<Frame> {
        Arc::new(Frame {
            held,
            turn: OnceLock::new(),
            sibling_permit,
        })
    }

    pub(crate) fn held(&self) -> &OwnedLease {
        &self.held
    }

    pub(crate) fn is_outermost(&self) -> bool {
        self.sibling_permit.is_none()
    }

    /// Counts one who shares the hold.
    pub(crate) fn share(&self) -> Share {
        Share::of(self.held.shared())
    }

    fn turn(&self) -> &Semaphore {
        self.turn.get_or_init(|| Box::new(Semaphore::new(1)))
    }

    /// Goes one level down once no sibling is inside.
    pub(crate) async fn descend(self: Arc<Frame>) -> Arc<Frame> {
        let permit = self.turn().acquire().await;
        permit.expect("a turn is never closed").forget();
        Frame::below(self)
    }

    /// Goes one level down unless a sibling is inside.
    pub(crate) fn try_descend(self: Arc<Frame>) -> Option<Arc<Frame>> {
        self.turn().try_acquire().ok()?.forget();
        Some(Frame::below(self))
    }

    /// The caller has taken `parent`'s turn.
    fn below(parent: Arc<Frame>) -> Arc<Frame> {
        Frame::new(parent.held.clone(), Some(SiblingPermit(parent)))
    }

    /// The duty to give the hold back, if this is the last frame that shares it.
    pub(crate) fn into_last(self: Arc<Frame>) -> Option<OwnedLease> {
        let Frame {
            held,
            sibling_permit,
            ..
        } = Arc::into_inner(self)?;
        // A parent that only this frame kept in being shares the hold too, and goes first.
        drop(sibling_permit);
        Arc::into_inner(held)
    }
}

/// The turn below a frame; it also keeps that frame in being.
#[derive(Debug)]
struct SiblingPermit(Arc<Frame>);

impl Drop for SiblingPermit {
    fn drop(&mut self) {
        catch_panics(|| self.0.turn().add_permits(1));
    }
}

/// What becomes of a body when its hold is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnLoss {
    /// It is dropped at its current await.
    Dropped,
    /// It runs to its end.
    Finishes,
    /// It cannot be stopped, and neither can anything around it be while it runs.
    Blocks,
}

/// One body of a call tree, and all that are around it.
#[derive(Debug)]
pub(crate) struct Scope {
    client: u64,
    frame: Arc<Frame>,
    on_loss: OnLoss,
    outer: Option<Arc<Scope>>,
}

impl Scope {
    /// A scope for a body under `frame`, inside whatever is current now.
    pub(crate) fn inside_current(client: u64, frame: &Arc<Frame>, on_loss: OnLoss) -> Arc<Scope> {
        Arc::new(Scope {
            client,
            frame: frame.clone(),
            on_loss,
            outer: current(),
        })
    }

    /// This scope and those around it, from the inside out.
    fn chain(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.outer.as_deref())
    }

    /// A share in every hold of the tree, one each.
    fn shares(&self) -> Vec<Share> {
        let mut frames: Vec<&Frame> = Vec::new();
        for scope in self.chain() {
            if !frames
                .iter()
                .any(|frame| Arc::ptr_eq(&frame.held, &scope.frame.held))
            {
                frames.push(&scope.frame);
            }
        }
        frames.into_iter().map(Frame::share).collect()
    }

    fn find(&self, client: u64, key: &str) -> Option<EnclosingFrame> {
        let is_it = |scope: &&Scope| scope.client == client && scope.frame.held.key.as_str() == key;
        let innermost = self.chain().find(is_it)?;
        let dropped_on_loss = self
            .chain()
            .take_while(|scope| scope.on_loss != OnLoss::Blocks)
            .any(|scope| is_it(&scope) && scope.on_loss == OnLoss::Dropped);
        Some(EnclosingFrame {
            frame: innermost.frame.clone(),
            dropped_on_loss,
        })
    }
}

/// What [`find`] found.
pub(crate) struct EnclosingFrame {
    pub(crate) frame: Arc<Frame>,
    /// A body around the caller is dropped, and the caller with it, when the hold is lost.
    pub(crate) dropped_on_loss: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// A scope while a body of it is being polled, and the task that polls it.
///
/// A body can drive other tasks itself: `block_on` of a runtime that runs on this thread, a
/// `LocalSet`. What those call is not called by the body.
#[derive(Debug)]
pub(crate) struct Current {
    scope: Arc<Scope>,
    task: Option<task::Id>,
}

impl Current {
    pub(crate) fn new(scope: Arc<Scope>) -> Current {
        let task = task::try_id();
        Current { scope, task }
    }

    fn scope_here(&self) -> Option<&Arc<Scope>> {
        (self.task == task::try_id()).then_some(&self.scope)
    }
}

/// Looks at the current scope, if there is one. There is none in the last moments of a thread, when
/// its thread-locals are gone and others are still being dropped.
fn with_current<T>(look: impl FnOnce(&Arc<Scope>) -> Option<T>) -> Option<T> {
    let look = |current: &RefCell<Option<Current>>| look(current.borrow().as_ref()?.scope_here()?);
    CURRENT.try_with(look).ok().flatten()
}

fn current() -> Option<Arc<Scope>> {
    with_current(|scope| Some(scope.clone()))
}

/// The frame under which the current call tree holds `key` of `client`.
pub(crate) fn find(client: u64, key: &str) -> Option<EnclosingFrame> {
    with_current(|scope| scope.find(client, key))
}

/// Makes `scope` the current one, and puts the one before it in its place. To be left by whoever
/// enters, also if it unwinds.
pub(crate) fn enter(scope: &mut Option<Current>) {
    if let Some(scope) = scope {
        // A future may go from task to task between two polls.
        scope.task = task::try_id();
    }
    exchange(scope);
}

/// Puts back what [`enter`] replaced.
pub(crate) fn leave(scope: &mut Option<Current>) {
    exchange(scope);
}

fn exchange(scope: &mut Option<Current>) {
    // In the last moments of a thread it stays where it is, entering as well as leaving.
    let _ = CURRENT.try_with(|current| std::mem::swap(&mut *current.borrow_mut(), scope));
}

/// Makes `scope` the current one until the returned value is dropped, also by a panic.
pub(crate) fn entered(scope: Option<Arc<Scope>>) -> Entered {
    let mut scope = scope.map(Current::new);
    enter(&mut scope);
    Entered { before: scope }
}

/// The current scope is another one until this is dropped.
pub(crate) struct Entered {
    before: Option<Current>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        leave(&mut self.before);
        // What was current until now is dropped only now, when the cell is free again: it may be
        // the last of its frame.
    }
}

pin_project! {
    /// A future that carries the call tree in which it was made; see [`in_current_hold`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct InCurrentHold<F> {
        #[pin]
        future: Option<F>,
        scope: Option<Arc<Scope>>,
        shares: Vec<Share>,
    }

    impl<F> PinnedDrop for InCurrentHold<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _entered = entered(this.scope.clone());
            // Inside its call tree: what its destructors call enters the locks.
            this.future.set(None);
        }
    }
}

impl<F: Future> Future for InCurrentHold<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = entered(this.scope.clone());
        let future = this.future.as_pin_mut();
        let output = future
            .expect("it is not polled after it has ended")
            .poll(cx);
        if output.is_ready() {
            // The future may be kept after it has ended; the hold must not be.
            *this.scope = None;
            this.shares.clear();
        }
        output
    }
}

/// Carries the current call tree into `future`, to be spawned.
///
/// A spawned task starts a call tree of its own: a locked function that it calls queues behind
/// the one that spawned it. Wrapped in this, as in tracing's `.in_current_span()`, it counts as
/// part of the caller's tree and enters the locks that the caller holds.
///
/// The future shares every hold of its tree. A lock is given back when the last body, guard and
/// carried future that share it have ended, so one that outlives its caller keeps the lock. When a
/// hold is lost the carried future itself goes on; what it calls under that lock fails as `Lost`.
///
/// # Cancel safety
///
/// Dropping the returned future drops `future` and its share of the holds.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, in_current_hold};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
/// let client = LockClient::memory();
/// let audit = client.clone();
/// client.lock("order:42").run(async |_guard| {
///     let task = tokio::spawn(in_current_hold(async move {
///         audit.lock("order:42").run(async |guard| guard.hold_count()).await
///     }));
///     assert!(task.await.unwrap().is_ok());
/// }).await?;
/// # Ok(()) }
/// ```
pub fn in_current_hold<F: Future>(future: F) -> InCurrentHold<F> {
    let scope = current().as_ref().map(uncancelled);
    let shares = scope.iter().flat_map(|scope| scope.shares()).collect();
    InCurrentHold {
        future: Some(future),
        scope,
        shares,
    }
}

/// The same tree as seen by a future that nobody drops when a hold of the tree is lost.
fn uncancelled(scope: &Arc<Scope>) -> Arc<Scope> {
    Arc::new(Scope {
        client: scope.client,
        frame: scope.frame.clone(),
        on_loss: OnLoss::Finishes,
        outer: scope.outer.as_ref().map(uncancelled),
    })
}
