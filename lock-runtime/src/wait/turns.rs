//! Local turns: a lease goes from one caller of a client to the next without a command.
//!
//! A grant of the server owns [`TURNS`](crate::options::TURNS) tokens, one for each caller that has
//! it in turn. It passes to the first in line and to nobody else, so that order inside the process
//! stays, and only as a lease that this caller could have been granted: for the ttl that it asks for,
//! with most of it left. What is lost is never passed on. While others queue in Redis, or may, it
//! passes for a second at most, and after its last token it is ended in their favour.
//!
//! The owner in Redis, the deadline and the renewals belong to the grant: a turn changes none of
//! them, so nothing that can go wrong with a lease is new here. The rule was explored as a model
//! first, which is in the repository with the scenarios that it met.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::Delivery;
use crate::backend::wire::Wire;
use crate::hold::Hold;
use crate::remote::Remote;

/// How long one grant may go round in a process while others queue for it.
pub(crate) const SPELL: Duration = Duration::from_secs(1);

/// Passes the lease of a hold whose holder is done to the next caller in its line. `false` if there
/// is none, or none that may have it.
pub(crate) fn pass<W: Wire>(remote: &Arc<Remote<W>>, hold: &Hold) -> bool {
    let mut lines = remote.lines();
    let mut roster = remote.roster();
    let Some(lock) = roster.line(hold) else {
        return false;
    };
    let Some(seat) = lines.peek(&lock) else {
        return false;
    };
    let Some(next) = roster.pass(hold, &seat.request, remote.local_turns, remote.now()) else {
        return false;
    };
    let seat = lines.call(&lock).expect("it was looked at above");
    let sooner = roster.needs_a_look();
    // A waker is somebody else's code.
    drop((lines, roster));
    if sooner {
        remote.look_sooner();
    }
    // If the caller is gone by now, the delivery comes back and is dropped: its token is spent, and
    // the lease passes on from there or is given back.
    drop(seat.reply.send(Ok(Delivery::new(remote, next))));
    true
}
