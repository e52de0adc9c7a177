//! Levels of nesting in a lease.
//!
//! # Invariants
//!
//! - A frame shares its lease, its parent frame and the room below the parent, until the last reference to the frame is
//!   gone.

use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;

use super::nesting;
use crate::backend::held_lease::HeldLease;
use crate::background::panics::catch_panics;
use crate::lease::{LeaseRef, Mode};

/// One level of nesting in a lease.
///
/// A frame shares the duty to release the lease, and takes a part of the room below its parent frame. Two concurrent
/// calls, as in `join!`, have the same parent, and so run one after the other unless both are shares. A call made
/// inside another call has that call as its parent and goes down at once. Hence two bodies that exclude each other run
/// at the same time only if one is nested in the other.
///
/// Waiting for room cannot deadlock by itself. The call that has the room is a descendant of the same parent, and waits
/// only for room further down.
#[derive(Debug)]
pub(crate) struct Frame {
    level: Level,
    /// How the call of this frame asked to hold the lock. Nested calls may do no more, even if the tree holds the lock
    /// alone further out: readers may run concurrently with this frame.
    mode: Mode,
    /// The room for the calls made directly below this frame. Few frames have such calls.
    below: OnceLock<Box<Semaphore>>,
}

#[derive(Debug)]
enum Level {
    /// The frame that acquired the lock. The frames below keep it alive, and so share its duty to release the lock.
    Outermost(HeldLease),
    Nested(TakenRoom),
}

impl Frame {
    pub(crate) fn outermost(lease: HeldLease, mode: Mode) -> Arc<Frame> {
        Frame::new(Level::Outermost(lease), mode)
    }

    fn new(level: Level, mode: Mode) -> Arc<Frame> {
        Arc::new(Frame {
            level,
            mode,
            below: OnceLock::new(),
        })
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn lease(&self) -> &HeldLease {
        self.outermost_frame().1
    }

    /// Returns how the tree holds the lock, regardless of nested calls.
    pub(crate) fn outermost_mode(&self) -> Mode {
        self.outermost_frame().0.mode
    }

    fn outermost_frame(&self) -> (&Frame, &HeldLease) {
        let mut frame = self;
        loop {
            match &frame.level {
                Level::Outermost(lease) => return (frame, lease),
                Level::Nested(room) => frame = &room.parent,
            }
        }
    }

    pub(crate) fn is_outermost(&self) -> bool {
        matches!(self.level, Level::Outermost(_))
    }

    pub(super) fn has_lease_of(&self, other: &Frame) -> bool {
        std::ptr::eq(self.lease(), other.lease())
    }

    /// Counts one more guard, body or carried future.
    pub(crate) fn reference(&self) -> LeaseRef {
        LeaseRef::of(self.lease().shared())
    }

    /// Returns the room below this frame; `None` if calls never wait for each other.
    fn below(&self) -> Option<&Semaphore> {
        let room = nesting::room_below(self.mode)?;
        let below = || Box::new(Semaphore::new(room as usize));
        Some(self.below.get_or_init(below))
    }

    /// Checks that a call in this mode may go one level down. `Err` explains why not.
    pub(crate) fn check_descent(&self, mode: Mode) -> Result<Descent, String> {
        let needed = nesting::needed_below(self.mode, mode)?;
        Ok(Descent { mode, needed })
    }

    /// Goes one level down, after waiting for the siblings that exclude the call.
    pub(crate) async fn descend(self: Arc<Frame>, descent: Descent) -> Arc<Frame> {
        if let Some(below) = self.below() {
            let permits = below.acquire_many(descent.needed).await;
            permits.expect("the semaphore is never closed").forget();
        }
        descent.below(self)
    }

    /// Goes one level down, unless a sibling that excludes the call is inside.
    pub(crate) fn try_descend(self: Arc<Frame>, descent: Descent) -> Option<Arc<Frame>> {
        if let Some(below) = self.below() {
            below.try_acquire_many(descent.needed).ok()?.forget();
        }
        Some(descent.below(self))
    }

    /// Returns the duty to release the lease, if this is the last frame that shares it.
    pub(crate) fn into_last(self: Arc<Frame>) -> Option<HeldLease> {
        match Arc::into_inner(self)?.level {
            Level::Outermost(lease) => Some(lease),
            Level::Nested(room) => {
                let parent = room.parent.clone();
                drop(room);
                parent.into_last()
            }
        }
    }
}

/// A call that may go one level down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descent {
    mode: Mode,
    /// How much room it takes.
    needed: u32,
}

impl Descent {
    /// Creates the frame of a call that has taken its room below `parent`.
    fn below(self, parent: Arc<Frame>) -> Arc<Frame> {
        let room = TakenRoom {
            parent,
            taken: self.needed,
        };
        Frame::new(Level::Nested(room), self.mode)
    }
}

/// The room that a frame takes below its parent; it keeps the parent alive.
#[derive(Debug)]
struct TakenRoom {
    parent: Arc<Frame>,
    taken: u32,
}

impl Drop for TakenRoom {
    fn drop(&mut self) {
        if let Some(below) = self.parent.below() {
            catch_panics(|| below.add_permits(self.taken as usize));
        }
    }
}
