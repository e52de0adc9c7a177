//! State machines for the life of an owner: answers and time go in, the next command comes out.
//!
//! A machine is a plain value in the task that drives it, which sends the commands and waits. It knows no I/O, no task, no
//! lock and no clock, so its unit test explores it to exhaustion.
//!
//! [`competing`]: until its caller has the lock. [`holding`]: until that is done. [`ending`]: until nothing of it can be left.

pub(crate) mod competing;
pub(crate) mod ending;
pub(crate) mod handoff;
pub(crate) mod holding;
pub(crate) mod local_queue;

use crate::backend::engine::ending::Event;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::EndReply;

/// What [`ending`] is told of an answer.
#[inline]
pub(crate) fn event_of(ended: &Result<EndReply, WireError>) -> Event {
    match ended {
        Ok(answer) => Event::Answered(*answer),
        Err(WireError::Refused(_)) => Event::Refused,
        Err(WireError::Unavailable(_)) => Event::Unavailable,
    }
}
