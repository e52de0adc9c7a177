//! Enters a lock that the call tree holds already.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Acquire;
use crate::backend::caller::Caller;
use crate::background::moment::Moment;
use crate::call_tree::{Descent, EnclosingFrame, Frame};
use crate::error::{LockError, LockErrorKind};

/// How long a call under a lost lease waits to be dropped.
const MAX_WAIT_FOR_DROP: Duration = Duration::from_millis(250);

impl Acquire {
    pub(super) async fn nested(
        &self,
        caller: Caller,
        enclosing: EnclosingFrame,
    ) -> Result<Arc<Frame>, LockError> {
        let started = self.now();
        let descent = self.check_reentry(&enclosing)?;
        let outer = enclosing.frame.clone();
        let entered = {
            let wait = self.bounded_wait();
            let mut descend = pin!(self.descend(caller, enclosing.frame, descent));
            tokio::select! {
                biased;
                loss = outer.lease().lost() => Err(loss),
                entered = &mut descend => Ok(entered),
                () = self.core.backend.sleep(wait) => Ok(Err(self.complete(
                    LockError::new(LockErrorKind::Busy).with_holder("a sibling in this call tree"),
                    self.now().since(started),
                ))),
            }
        };
        match entered {
            Ok(entered) => entered,
            Err(loss) => {
                self.await_drop(caller, enclosing.is_dropped_on_loss).await;
                Err(outer.lease().lost_error(loss))
            }
        }
    }

    /// Goes one level down. A blocking call cannot wait for a sibling that is inside: both may live in one task.
    async fn descend(
        &self,
        caller: Caller,
        outer: Arc<Frame>,
        descent: Descent,
    ) -> Result<Arc<Frame>, LockError> {
        match caller {
            Caller::Task => Ok(outer.descend(descent).await),
            Caller::Thread => outer.try_descend(descent).ok_or_else(|| {
                self.reentered("a sibling is inside, and a synchronous call cannot wait for it")
            }),
        }
    }

    /// Gives the outermost call a token, even if it asked for none.
    pub(super) async fn nested_token(
        &self,
        caller: Caller,
        frame: &Frame,
        is_dropped_on_loss: bool,
        wait_ends: Instant,
    ) -> Result<(), LockError> {
        let minted = frame.lease().token(caller, Some(wait_ends)).await;
        if minted.as_ref().is_err_and(LockError::is_lost) {
            self.await_drop(caller, is_dropped_on_loss).await;
        }
        minted.map(drop)
    }

    /// Waits to be dropped. The lock that the call tree holds is lost, and the driver of the outer body is about to
    /// drop this future: it compares the deadline before it polls the body again. An error now would let the body run
    /// its own fallback without the lock. Only a body that blocks inside one poll, in a blocking call or on a runtime
    /// of its own, sees the error: nothing else would end such a body.
    async fn await_drop(&self, caller: Caller, is_dropped_on_loss: bool) {
        if is_dropped_on_loss && caller == Caller::Task {
            self.core.backend.sleep(MAX_WAIT_FOR_DROP).await;
        }
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
            Err("this call has `reentrant = false`".to_owned())
        };
        descent.map_err(|reason| self.reentered(reason))
    }

    fn reentered(&self, reason: impl Into<String>) -> LockError {
        LockError::new(LockErrorKind::Reentered)
            .with_key(&self.key)
            .with_detail(reason)
    }

    pub(super) fn now(&self) -> Moment {
        self.core.backend.clock(Caller::Task).now()
    }
}
