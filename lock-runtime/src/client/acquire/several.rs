//! Acquires several locks together: all or none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Acquire;
use crate::backend::caller::Caller;
use crate::call_tree::{self, EnclosingFrame, Found, Frame, Nesting};
use crate::client::guard::LockGuard;
use crate::error::{LockError, LockErrorKind};
use crate::key::{Lock, LockKey, OneOrMore};

/// The most locks that one call acquires together, which bounds a script's work.
const MAX_LOCKS: usize = 32;

/// The locks of one call: held by the call tree, or still to acquire.
struct Split {
    /// The frames that hold some of the locks, each once, with the key of the first lock that it holds.
    held: Vec<(LockKey, EnclosingFrame)>,
    /// The locks that the call tree does not hold, or why none can be acquired.
    rest: Option<Result<OneOrMore<Lock>, LockError>>,
    nesting: Nesting,
}

impl Acquire {
    /// Enters the locks that the call tree holds, one frame down, and then acquires the others. The wait bounds both.
    pub(super) async fn several(mut self, caller: Caller) -> Result<LockGuard, LockError> {
        let until = self.now() + self.bounded_wait();
        let Split {
            held,
            rest,
            nesting,
        } = self.split_or_refuse();
        let mut frames = Vec::new();
        for (key, enclosing) in held {
            let call = self.for_one(key, until.since(self.now()));
            frames.push(call.nested(caller, enclosing).await?);
        }
        if let Some(locks) = rest {
            self.options.wait = Some(until.since(self.now()));
            let lease = self.outermost(caller, locks, nesting).await?;
            frames.push(Frame::outermost(lease, self.mode()?));
        }
        let fenced = self.options.fenced;
        let rest = until.since(self.now());
        let guard = self.guard(frames)?;
        if fenced {
            guard.token_for(caller, Some(Instant::now() + rest)).await?;
        }
        Ok(guard)
    }

    /// Returns the same call for one of its locks, so that an error names that lock.
    fn for_one(&self, key: LockKey, wait: Duration) -> Acquire {
        let mut call = self.clone();
        (call.key, call.others) = (key, None);
        call.wait(wait)
    }

    /// Returns the guard of all locks. A lock that the call tree held may have been lost while the call waited for the
    /// others.
    fn guard(self, frames: Vec<Arc<Frame>>) -> Result<LockGuard, LockError> {
        let keys = self.lock_set()?.keys();
        let guard = LockGuard::of_several(self.core, keys, frames);
        match guard.lost_error() {
            None => Ok(guard),
            Some(lost) => Err(lost),
        }
    }

    /// Splits the locks, or refuses the call: a refusal takes the path of an acquiring call, which reports it.
    fn split_or_refuse(&self) -> Split {
        self.split().unwrap_or_else(|error| Split {
            held: Vec::new(),
            rest: Some(Err(error)),
            nesting: Nesting::Nothing,
        })
    }

    fn split(&self) -> Result<Split, LockError> {
        let possible = self.core.require("locks of several keys");
        possible.map_err(|error| error.with_key(&self.key))?;
        let locks = self.lock_set()?;
        if locks.len() > MAX_LOCKS {
            return Err(
                LockError::new(LockErrorKind::InvalidKey).with_detail(format!(
                    "a call may lock at most {MAX_LOCKS} keys, not {}",
                    locks.len()
                )),
            );
        }
        if self.mode()?.share().is_some() {
            return Err(LockError::invalid_options(
                "`keys` are locked exclusively; `mode` and `permits` are for one key",
            ));
        }
        self.core.limits.check_slots(&locks)?;
        let mut held: Vec<(LockKey, EnclosingFrame)> = Vec::new();
        let mut rest: Vec<Lock> = Vec::new();
        let mut nesting = Nesting::Locks;
        for lock in locks.iter() {
            match call_tree::find(self.core.number, lock.key.as_str()) {
                Found::Other(around) => {
                    nesting = around;
                    rest.push(lock.clone());
                }
                Found::Lock(found)
                    if held
                        .iter()
                        .any(|(_, other)| Arc::ptr_eq(&other.frame, &found.frame)) => {}
                Found::Lock(found) => held.push((lock.key.clone(), found)),
            }
        }
        // All calls of the tree use one order; otherwise two of them could each wait for the other's room.
        held.sort_by_key(|(_, enclosing)| Arc::as_ptr(&enclosing.frame));
        Ok(Split {
            held,
            rest: Lock::in_order(rest).map(Ok),
            nesting,
        })
    }
}
