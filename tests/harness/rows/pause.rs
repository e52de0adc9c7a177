//! SIGSTOP: a process that stands still does not know that time goes by.

use std::time::Instant;

use super::{LONG, TTL};
use crate::rounds::{Class, Round, Row};
use crate::wait::PATIENCE;

/// A holder stands still past its lease, in the middle of its body, and then goes on.
pub(super) const HOLDER_PAUSED: Row = Row::new("holder_paused", Class::F, holder_paused);

fn holder_paused(round: &mut Round<'_>) {
    let mut sleeper = round.holder(TTL);
    let mut next = round.waiter(LONG);
    assert_eq!(sleeper.ask("look", PATIENCE), "looked");
    sleeper.stop();
    let stopped = Instant::now();
    round.granted_next(&next, stopped, TTL);
    round.visit(&mut next);

    sleeper.cont();
    // A body that does not look up writes all the same, and its token betrays it.
    assert_eq!(sleeper.ask("write", PATIENCE), "stale");
    assert_eq!(sleeper.ask("valid", PATIENCE), "false");
    let refused = sleeper.ask("release", PATIENCE);
    assert!(refused.starts_with("failed Lost "), "{refused}");

    assert!(round.is_held_by(&next), "the new holder was touched");
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(sleeper);
    round.retire(next);
}
