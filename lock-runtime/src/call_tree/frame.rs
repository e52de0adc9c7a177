//! Levels of nesting in a lease.

use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;

use crate::backend::owned_lease::OwnedLease;
use crate::background::panics::catch_panics;
use crate::lease::LeaseRef;

/// One level of nesting in a lease.
///
/// A frame shares the duty to release the lease, and occupies the single sibling permit of its parent
/// frame. Two calls that were made side by side, as by `join!`, have the same parent and so run one after
/// the other. A call made inside another has that one as its parent and goes down at once. Hence two
/// bodies of one key run at the same time only if one is nested in the other.
///
/// Waiting for the permit cannot deadlock by itself. Its owner is a descendant of the same parent, and
/// never waits for that parent's permit again, only for permits further down.
#[derive(Debug)]
pub(crate) struct Frame {
    lease: Arc<OwnedLease>,
    /// One permit, for the calls made directly below this frame. Few frames have any.
    siblings: OnceLock<Box<Semaphore>>,
    /// The parent's permit; `None` for the outermost frame.
    sibling_permit: Option<SiblingPermit>,
}

impl Frame {
    pub(crate) fn outermost(lease: OwnedLease) -> Arc<Frame> {
        Frame::new(Arc::new(lease), None)
    }

    fn new(lease: Arc<OwnedLease>, sibling_permit: Option<SiblingPermit>) -> Arc<Frame> {
        Arc::new(Frame {
            lease,
            siblings: OnceLock::new(),
            sibling_permit,
        })
    }

    pub(crate) fn lease(&self) -> &OwnedLease {
        &self.lease
    }

    pub(crate) fn is_outermost(&self) -> bool {
        self.sibling_permit.is_none()
    }

    pub(super) fn has_lease_of(&self, other: &Frame) -> bool {
        Arc::ptr_eq(&self.lease, &other.lease)
    }

    /// Counts one more guard, body or carried future.
    pub(crate) fn reference(&self) -> LeaseRef {
        LeaseRef::of(self.lease.shared())
    }

    fn siblings(&self) -> &Semaphore {
        self.siblings.get_or_init(|| Box::new(Semaphore::new(1)))
    }

    /// Goes one level down once no sibling is inside.
    pub(crate) async fn descend(self: Arc<Frame>) -> Arc<Frame> {
        let permit = self.siblings().acquire().await;
        permit.expect("the semaphore is never closed").forget();
        Frame::below(self)
    }

    /// Goes one level down unless a sibling is inside.
    pub(crate) fn try_descend(self: Arc<Frame>) -> Option<Arc<Frame>> {
        self.siblings().try_acquire().ok()?.forget();
        Some(Frame::below(self))
    }

    /// The caller has taken `parent`'s permit.
    fn below(parent: Arc<Frame>) -> Arc<Frame> {
        Frame::new(parent.lease.clone(), Some(SiblingPermit(parent)))
    }

    /// The duty to release the lease, if this is the last frame that shares it.
    pub(crate) fn into_last(self: Arc<Frame>) -> Option<OwnedLease> {
        let Frame {
            lease,
            sibling_permit,
            ..
        } = Arc::into_inner(self)?;
        // A parent that is referenced by this frame alone shares the lease too, and goes first.
        drop(sibling_permit);
        Arc::into_inner(lease)
    }
}

/// The permit of the frames below a parent; it keeps the parent alive.
#[derive(Debug)]
struct SiblingPermit(Arc<Frame>);

impl Drop for SiblingPermit {
    fn drop(&mut self) {
        catch_panics(|| self.0.siblings().add_permits(1));
    }
}
