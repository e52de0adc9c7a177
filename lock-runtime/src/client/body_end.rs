//! Releases a lock after its body, and decides the call's result.

use crate::backend::caller::Caller;
use crate::call_tree::OnLost;
use crate::client::campaign::observer;
use crate::client::guard::LockGuard;
use crate::error::LockError;
use crate::lease::LossReason;
use crate::telemetry::{self, CallLabels};

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// The body was dropped because its lock was lost.
    Dropped,
    /// The body returned an error of its own, which no failure of the lock replaces.
    Failed,
    /// The body returned anything else.
    Succeeded,
}

impl BodyEnd {
    /// Returns the end of a body that returned; `failed` means that its result is an error of its own.
    pub fn returned(failed: bool) -> BodyEnd {
        if failed {
            BodyEnd::Failed
        } else {
            BodyEnd::Succeeded
        }
    }

    /// Returns the end of a body whose result is not examined; `Err` means that it was dropped.
    pub(crate) fn of<R>(outcome: &Result<R, LockError>) -> BodyEnd {
        match outcome {
            Ok(_) => BodyEnd::Succeeded,
            Err(_) => BodyEnd::Dropped,
        }
    }
}

/// Releases the lock after a body that ended with `end`. `Err` replaces the body's result.
///
/// # Errors
///
/// `Lost`: the lock turned out not to have been held throughout, and neither the attribute nor the
/// body's own error keeps the result.
pub(crate) async fn release_after(
    caller: Caller,
    guard: LockGuard,
    on_lost: OnLost,
    end: BodyEnd,
) -> Result<(), LockError> {
    warn_if_shared(&guard);
    match end {
        BodyEnd::Failed => guard.mark_failed(),
        BodyEnd::Dropped => guard.mark_lost(),
        BodyEnd::Succeeded => {}
    }
    let labels = labels(&guard);
    let result = after_release(&labels, on_lost, end, guard.release_for(caller).await);
    if let Err(lost) = &result {
        observer::failed(lost, None);
    }
    result
}

/// Returns the call's result, given the end of the body and the result of the release.
fn after_release(
    labels: &CallLabels,
    on_lost: OnLost,
    end: BodyEnd,
    released: Result<(), LockError>,
) -> Result<(), LockError> {
    let keeps_result = match end {
        BodyEnd::Dropped => false,
        BodyEnd::Failed => true,
        BodyEnd::Succeeded => on_lost == OnLost::Finish,
    };
    match released {
        Err(lost) if keeps_result => {
            telemetry::finished_without_lock(labels, &lost);
            Ok(())
        }
        released => released,
    }
}

/// Returns the labels of the lease, for a report after its end.
fn labels(guard: &LockGuard) -> CallLabels {
    guard.frame().lease().trace.labels.clone()
}

/// Warns if a body ends while carried futures share its lease: they keep the lock, which is rarely intended.
fn warn_if_shared(guard: &LockGuard) {
    let lease = guard.frame().lease();
    if guard.frame().is_outermost()
        && guard.hold_count() > 1
        && lease.loss() != Some(LossReason::Shutdown)
    {
        telemetry::hold_outlives_body(&lease.trace);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::error::LockErrorKind;

    const LABELS: CallLabels = CallLabels {
        function: "ship",
        template: "order:<id>",
        key: None,
        place: Location::caller(),
    };

    fn lost() -> Result<(), LockError> {
        Err(LockError::new(LockErrorKind::Lost))
    }

    #[test]
    fn ok_means_held_throughout() {
        let result = after_release(&LABELS, OnLost::Cancel, BodyEnd::Succeeded, lost());
        assert!(result.unwrap_err().is_lost());
    }

    #[test]
    fn bodys_own_error_is_never_masked() {
        assert!(after_release(&LABELS, OnLost::Cancel, BodyEnd::returned(true), lost()).is_ok());
        assert!(after_release(&LABELS, OnLost::Cancel, BodyEnd::returned(false), lost()).is_err());
    }

    #[test]
    fn finish_keeps_the_result_of_a_lost_body() {
        assert!(after_release(&LABELS, OnLost::Finish, BodyEnd::Succeeded, lost()).is_ok());
    }

    #[test]
    fn dropped_body_has_no_result() {
        for on_lost in [OnLost::Cancel, OnLost::Finish] {
            assert!(after_release(&LABELS, on_lost, BodyEnd::Dropped, lost()).is_err());
        }
    }
}
