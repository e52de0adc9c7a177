//! Local turns: a lease goes from one caller of a client to the next without a command.
//!
//! A grant of the server owns [`TURNS`](crate::config::TURNS) tokens, one for each caller that has
//! it in turn. It passes to the first in line and to nobody else, so that order inside the process
//! stays, and only as a lease that this caller could have been granted: for the ttl that it asks for,
//! with most of it left. What is lost is never passed on. While others queue in Redis, or may, it
//! passes for a second at most, and after its last token it is ended in their favour.
//!
//! Where nobody is in line and nobody else is known to want the lock, a lease may be retained for its
//! client's next caller, which takes it by the same rule (`retained`).
//!
//! The owner in Redis, the deadline and the renewals belong to the grant: a turn changes none of
//! them, so nothing that can go wrong with a lease is new here. The rule was explored as a model
//! first, which is in the repository with the scenarios that it met.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::remote::Remote;
use crate::backend::remote::local_queue::Lines;
use crate::backend::remote::local_waiter::Seat;
use crate::backend::remote::news::News;
use crate::backend::wire::Wire;
use crate::backend::{Delivery, Released, Request};
use crate::background::panics::shielded;
use crate::lease::Hold;

/// How long one grant may go round in a process while others queue for it.
pub(crate) const SPELL: Duration = Duration::from_secs(1);

/// Passes the lease of a hold whose holder is done to the next caller in its line or, if there is none and
/// it `may_retain` the lease, keeps that for the next one who comes. `None` if the lease is to be given
/// back.
pub(crate) fn hand_on<W: Wire>(
    remote: &Arc<Remote<W>>,
    hold: &Hold,
    may_retain: bool,
) -> Option<Released> {
    let mut lines = remote.lines();
    let mut roster = remote.roster();
    let lock = roster.line(hold)?;
    let turns = remote.local_turns;
    let passed = lines.call_if(&lock, |seat| {
        roster.pass(hold, &seat.request, turns, remote.now())
    });
    let Some((seat, next)) = passed else {
        let is_last = lines.peek(&lock).is_none();
        if !may_retain || !is_last || !roster.retain(hold, turns, remote.now()) {
            return None;
        }
        drop((lines, roster));
        remote.wire().listen();
        remote.look_if_needed();
        return Some(Released::Retained);
    };
    let holder = News::HeldHere(seat.request.label.clone());
    lines.update(&lock, Some(holder));
    let sooner = roster.needs_a_look();
    // A waker is somebody else's code.
    drop((lines, roster));
    if sooner {
        remote.look_sooner();
    }
    // If the caller is gone by now, the delivery comes back and is dropped: its token is spent, and
    // the lease passes on from there or is given back.
    let delivery = Delivery::new(remote, next);
    shielded(|| drop(seat.reply.send(Ok(delivery))));
    Some(Released::Passed)
}

/// Takes the lease that is retained of a lock, as the next turn of a caller that has come. `None` if there
/// is none, or none that this caller may have.
pub(crate) fn resume<W: Wire>(
    remote: &Arc<Remote<W>>,
    lines: &mut Lines<Seat<W>, News>,
    request: &Request,
) -> Option<Delivery<Remote<W>>> {
    let (turns, now) = (remote.local_turns, remote.now());
    let hold = remote.roster().resume(request, turns, now)?;
    let holder = News::HeldHere(request.label.clone());
    lines.update(&request.names.lock, Some(holder));
    Some(Delivery::new(remote, hold))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::backend::redis::CLOCK;
    use crate::backend::remote::local_waiter::Entrance;
    use crate::backend::remote::registry::{Doubt, Tenure};
    use crate::config::Options;
    use crate::key::{LockKey, RecordNames};
    use crate::lease::fencing_token::FencingToken;
    use crate::lease::schedule::{Lease, Terms};

    /// The holder passes its lease at the very moment in which the caller goes: its seat was called,
    /// so it cannot give it up any more, and nobody will read the reply.
    #[test]
    fn what_is_passed_to_a_caller_that_has_just_gone_is_given_back() {
        let remote = Remote::open("redis://127.0.0.1:1", &Options::default()).unwrap();
        let key = LockKey::from("key".to_owned());
        let names = RecordNames::new("lock:", &key).unwrap();
        let terms = Terms {
            ttl: Duration::from_secs(3600),
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
        };
        let lease = Lease::granted(remote.now(), &terms);
        let episode = remote.episode(&Arc::default(), &names).unwrap();
        let owner = episode.ticket.owner;
        let token = FencingToken::new(1600);
        let hold = Hold::new(key.clone(), owner, token, terms, ("", "key"), CLOCK, &lease);
        let hold = Arc::new(hold);
        assert!(remote.lines().head(&names.lock).is_none());
        let tenure = Tenure {
            hold: hold.clone(),
            episode,
            lease,
            contended: false,
            heads_line: true,
            turn: 0,
            since: remote.now(),
            under_way: 0,
            doubt: Doubt::None,
        };
        remote.roster().insert(tenure, remote.now());
        let request = Request {
            key,
            names,
            terms,
            wait: Duration::from_secs(9),
            label: "".into(),
            function: "",
            template: "key",
        };
        let until = Instant::now() + request.wait;
        let Entrance::Line(seated) = Entrance::of(&remote, request, until) else {
            panic!("the line has a head");
        };
        seated.goes_unseen();
        assert_eq!(hand_on(&remote, &hold, true), Some(Released::Passed));
        assert_eq!(remote.roster().holds().count(), 0, "held by nobody");
    }
}
