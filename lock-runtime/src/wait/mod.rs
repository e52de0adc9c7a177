//! Waiting for a lock that somebody else holds.
//!
//! Clients stand in one queue, in Redis; the callers of one client stand in a [`line`] behind the
//! one that speaks for them there. That one *polls*, and a poll is the acquire command itself:
//! it shows that the waiter lives, restores its place if that was lost, and takes the lock if it
//! turns out to be free. So whatever goes wrong, a dead holder, a lost message, an evicted queue,
//! is healed by the next poll and needs nobody else. A grant comes by hand-off, with a message
//! that only spares the wait for that poll.

pub(crate) mod calls;
pub(crate) mod contender;
pub(crate) mod episode;
pub(crate) mod line;
pub(crate) mod news;
pub(crate) mod poll;
pub(crate) mod seat;
pub(crate) mod turns;
