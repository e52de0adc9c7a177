//! The bodies of a call tree, each with the bodies around it.

use std::sync::Arc;

use super::frame::Frame;
use super::on_lost::OnLost;
use crate::lease::LeaseRef;

/// One body of a call tree, and all bodies around it.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The number of the client that the lock is from.
    client: u64,
    frame: Arc<Frame>,
    on_lost: OnLost,
    outer: Option<Arc<Scope>>,
}

impl Scope {
    /// Creates the scope of a body under `frame`, inside the bodies of `outer`.
    pub(super) fn new(
        client: u64,
        frame: &Arc<Frame>,
        on_lost: OnLost,
        outer: Option<Arc<Scope>>,
    ) -> Arc<Scope> {
        Arc::new(Scope {
            client,
            frame: frame.clone(),
            on_lost,
            outer,
        })
    }

    /// Iterates over this scope and the scopes around it, from the inside out.
    fn chain(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.outer.as_deref())
    }

    /// Returns one reference to every lease of the tree.
    pub(super) fn references(&self) -> Vec<LeaseRef> {
        let mut frames: Vec<&Frame> = Vec::new();
        for scope in self.chain() {
            if !frames.iter().any(|frame| frame.has_lease_of(&scope.frame)) {
                frames.push(&scope.frame);
            }
        }
        frames.into_iter().map(Frame::reference).collect()
    }

    /// Iterates over a frame of each lease of `client` that the tree holds, from the inside out. A lease that was
    /// entered again appears again.
    pub(super) fn frames_of(&self, client: u64) -> impl Iterator<Item = &Frame> {
        let scopes = self.chain().filter(move |scope| scope.client == client);
        scopes.map(|scope| &*scope.frame)
    }

    /// Returns the innermost frame under which this tree holds `key` of `client`.
    pub(super) fn find(&self, client: u64, key: &str) -> Option<EnclosingFrame> {
        let holds_key =
            |scope: &&Scope| scope.client == client && scope.frame.lease().keys.contains(key);
        let innermost = self.chain().find(holds_key)?;
        let is_dropped_on_loss = self
            .chain()
            .take_while(|scope| scope.on_lost != OnLost::Block)
            .any(|scope| holds_key(&scope) && scope.on_lost == OnLost::Cancel);
        Some(EnclosingFrame {
            frame: innermost.frame.clone(),
            is_dropped_on_loss,
        })
    }

    /// Returns the same tree for a future that is not dropped when a lease of the tree is lost.
    pub(super) fn uncancelled(self: &Arc<Scope>) -> Arc<Scope> {
        let outer = self.outer.as_ref().map(Scope::uncancelled);
        Scope::new(self.client, &self.frame, OnLost::Finish, outer)
    }
}

/// The result of looking for a lock in the call tree.
pub(crate) enum Found {
    /// The lock itself.
    Lock(EnclosingFrame),
    Other(Nesting),
}

/// The other locks that a call tree holds when it asks for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nesting {
    Nothing,
    /// One lock or more.
    Locks,
}

/// A frame of the caller's call tree that holds the requested key.
pub(crate) struct EnclosingFrame {
    pub(crate) frame: Arc<Frame>,
    /// Whether a body around the caller is dropped, and the caller with it, when the lease is lost.
    pub(crate) is_dropped_on_loss: bool,
}
