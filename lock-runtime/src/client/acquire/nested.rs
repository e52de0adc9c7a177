//! Enters a lock that the call tree holds already.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::Acquire;
use crate::background::moment::Moment;
use crate::call_tree::{Descent, EnclosingFrame, Frame};
use crate::error::{LockError, LockErrorKind};

/// How long a call under a lost lease waits to be dropped.
const MAX_WAIT_FOR_DROP: Duration = Duration::from_millis(250);

impl Acquire {
    pub(super) async fn nested(&self, enclosing: EnclosingFrame) -> Result<Arc<Frame>, LockError> {
        let started = self.now();
        let descent = self.check_reentry(&enclosing)?;
        let outer = enclosing.frame.clone();
        let entered = {
            let wait = self.bounded_wait();
            let mut descend = pin!(enclosing.frame.clone().descend(descent));
            tokio::select! {
                biased;
                loss = outer.lease().lost() => Err(loss),
                frame = &mut descend => Ok(Some(frame)),
                () = self.core.backend.sleep(wait) => Ok(None),
            }
        };
        match entered {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err(self.complete(
                LockError::new(LockErrorKind::Busy).with_holder("a sibling in this call tree"),
                self.now().since(started),
            )),
            Err(loss) => {
                self.await_drop(enclosing.is_dropped_on_loss).await;
                Err(outer.lease().lost_error(loss))
            }
        }
    }

    /// Has the outermost call, which may not have asked for a token, have one.
    pub(super) async fn nested_token(
        &self,
        frame: &Frame,
        is_dropped_on_loss: bool,
    ) -> Result<(), LockError> {
        let minted = frame.lease().token().await;
        if minted.as_ref().is_err_and(LockError::is_lost) {
            self.await_drop(is_dropped_on_loss).await;
        }
        minted.map(drop)
    }

    /// The lock that the call tree holds is lost, and the driver of the outer body is about to drop this future: it compares
    /// the deadline before it polls the body again. An error now would let the body go on to its own fallback, without the
    /// lock. Only a body that blocks inside one poll, on a runtime of its own, sees the error: nothing else would end such a
    /// body.
    async fn await_drop(&self, is_dropped_on_loss: bool) {
        if is_dropped_on_loss {
            self.core.backend.sleep(MAX_WAIT_FOR_DROP).await;
        }
    }

    pub(super) fn nested_blocking(
        &self,
        enclosing: EnclosingFrame,
    ) -> Result<Arc<Frame>, LockError> {
        let descent = self.check_reentry(&enclosing)?;
        let lease = enclosing.frame.lease();
        if let Some(loss) = lease.loss() {
            return Err(lease.lost_error(loss));
        }
        enclosing.frame.try_descend(descent).ok_or_else(|| {
            LockError::new(LockErrorKind::Reentered)
                .with_key(&self.key)
                .with_detail("a sibling is inside, and a synchronous call cannot wait for it")
        })
    }

    fn check_reentry(&self, enclosing: &EnclosingFrame) -> Result<Descent, LockError> {
        // The outermost call's terms apply, but invalid terms are an error in every call.
        self.terms()?;
        let mode = self.mode()?;
        // In a forked child the lease is only a copy of the parent's.
        let same = self.core.backend.check_process();
        same.map_err(|error| error.with_key(&self.key))?;
        let descent = if self.options.reentrant.unwrap_or(true) {
            enclosing.frame.check_descent(mode)
        } else {
            Err("this call says `reentrant = false`".to_owned())
        };
        descent.map_err(|reason| {
            LockError::new(LockErrorKind::Reentered)
                .with_key(&self.key)
                .with_detail(reason)
        })
    }

    pub(super) fn now(&self) -> Moment {
        self.core.backend.clock().now()
    }
}
