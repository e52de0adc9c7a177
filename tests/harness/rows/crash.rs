//! kill -9.

use std::time::Instant;

use super::TTL;
use crate::rounds::{Class, Round, Row};

/// A holder dies in its body: the next one waits for the end of its lease, and no longer.
pub(super) const HOLDER_KILLED: Row = Row::new("holder_killed", Class::E, holder_killed);

fn holder_killed(round: &mut Round<'_>) {
    let mut holder = round.holder(TTL);
    let mut next = round.waiter(TTL);
    holder.send("look");
    holder.kill9();
    let killed = Instant::now();
    let end = round.lease_end();
    round.granted_next(&next, killed, TTL);
    assert!(Instant::now() >= end, "the lease was not respected");
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(next);
}
