//! Settling: an owner is ended until nothing of it can be left. [`end_or_rest`] sends one end, also the first of a
//! release that knows of a waiter.
//!
//! An end without an answer is repeated until there is one, or until nothing of the owner can be left. For a
//! holder that includes a refusal: a password or certificate that is being replaced refuses for a moment. An
//! answer is not enough if an acquire of the owner is unanswered on another connection. It may arrive after the
//! answer, and take the lock for an owner that is gone. Such a *tainted* owner is ended again
//! for as long as one of its commands can still arrive, whatever the answers say.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::backend::remote::context::Context;
use crate::backend::remote::owner::RegisteredOwner;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::EndReply;
use crate::backend::wire::settling::Settling;
use crate::backend::wire::{EndRequest, RestRequest, Wire};
use crate::background::in_flight::Counted;
use crate::background::random;
use crate::key::RecordNames;
use crate::lease::Mode;
use crate::lease::owner_id::OwnerId;

/// The resolution of expiries.
const SHORTEST_REST: Duration = Duration::from_millis(1);

/// Ends an owner in the background, unless nothing of it can be left. The receiver completes when the first end
/// was answered or has taken as long as a command may.
pub(crate) fn end<W: Wire>(
    context: &Arc<Context<W>>,
    mut owner: RegisteredOwner,
) -> oneshot::Receiver<()> {
    let (first, done) = oneshot::channel();
    if !owner.outstanding.may_be_stored() {
        return done;
    }
    // Counted here and not in the task: a shutdown may look before the task is run.
    let counted = context.unsettled.one();
    let ending = context.clone();
    context.spawn(async move {
        let ended = end_or_rest(&ending, &mut owner).await;
        drop(first);
        let is_unanswered = needs_another_end(&ended, &owner);
        settle(&ending, owner, is_unanswered, Some(counted)).await;
    });
    done
}

/// Ends an owner of this client once more that ended a moment ago, because a grant was announced for it: its end
/// has overtaken one of its commands.
pub(crate) fn end_again<W: Wire>(
    context: &Arc<Context<W>>,
    owner_id: OwnerId,
    mode: Mode,
    lock: &[u8],
) {
    let lock = String::from_utf8(lock.to_vec());
    let Some(names) = lock.ok().and_then(|lock| RecordNames::of_lock(lock).ok()) else {
        return;
    };
    let owner = RegisteredOwner::ended_before(owner_id, names, mode, &context.notifier);
    drop(end(context, owner));
}

/// Ends an owner; while its lock is to stay taken, puts the lock to rest instead.
pub(crate) async fn end_or_rest<W: Wire>(
    context: &Context<W>,
    owner: &mut RegisteredOwner,
) -> Result<EndReply, WireError> {
    let until = owner.rests_until.as_deref();
    let rest = until.map(|until| until.since(context.now()));
    let Some(time) = rest.filter(|rest| *rest >= SHORTEST_REST) else {
        let ended = context.wire.end(owner, EndRequest::default()).await;
        return ended.map(|answered| answered.answer);
    };
    let rested = context.wire.rest(owner, RestRequest { time }).await;
    if rested.is_ok() {
        // What may follow ends an owner that holds nothing any more.
        owner.rests_until = None;
    }
    rested
}

/// Whether an owner has to be ended again after this.
pub(crate) fn needs_another_end<T>(ended: &Result<T, WireError>, owner: &RegisteredOwner) -> bool {
    match ended {
        Ok(_) => false,
        Err(WireError::Unavailable(_)) => true,
        Err(WireError::Refused(_)) => owner.outstanding.may_hold(),
    }
}

/// Repeats the end of an owner for as long as that may be needed. `counted` is dropped as soon as a shutdown
/// need not wait any longer.
pub(crate) async fn settle<W: Wire>(
    context: &Context<W>,
    mut owner: RegisteredOwner,
    mut is_unanswered: bool,
    counted: Option<Counted>,
) {
    let mut settling = Settling::begin(&owner.outstanding, Instant::now());
    // A shutdown waits for an answer and no longer: a tainted owner is ended again for seconds, but it is not
    // known to hold the lock.
    let mut counted = counted.filter(|_| is_unanswered);
    while let Some(pause) = settling.pause(
        &owner.outstanding,
        is_unanswered,
        Instant::now(),
        random::jitter,
    ) {
        sleep(pause).await;
        let is_last = settling.is_last(Instant::now());
        if is_last {
            counted = None;
        }
        let ended = end_or_rest(context, &mut owner).await;
        if !needs_another_end(&ended, &owner) {
            (is_unanswered, counted) = (false, None);
            if is_last {
                break;
            }
        }
    }
    drop(counted);
}
