//! State machines for the life of an owner: answers and time go in, the next command comes out.
//!
//! A machine is a plain value in the task that drives it. The task sends the commands and waits. The machine itself
//! uses no I/O, task, lock or clock, so its unit test can explore it exhaustively.
//!
//! [`competing`]: until the caller has the lock. [`holding`]: until the caller is done. [`ending`]: until nothing of
//! the owner can be left.

pub(crate) mod competing;
pub(crate) mod ending;
pub(crate) mod handoff;
pub(crate) mod holding;
pub(crate) mod local_queue;

use crate::backend::engine::ending::Event;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::EndReply;

/// Translates an answer into an event of [`ending`].
#[inline]
pub(crate) fn event_of(ended: &Result<EndReply, WireError>) -> Event {
    match ended {
        Ok(answer) => Event::Answered(*answer),
        Err(WireError::Refused(_)) => Event::Refused,
        Err(WireError::Unavailable(_)) => Event::Unavailable,
    }
}
