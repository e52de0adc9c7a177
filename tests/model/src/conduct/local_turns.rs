//! Local turns: a lease goes from one caller of a process to the next without a command.
//! What follows is what the runtime does, and what the model does.
//!
//! # The rule
//!
//! A *grant* is one owner's hold from the answer that made it the holder (to `acquire`, or to the
//! `end` that named it) to its own `end`. It owns the tokens start … start + N − 1, where start is
//! the token of that answer and N is 16, as in the scripts. It has a turn, which counts from 0, a
//! ttl, a deadline, and the time of the answer.
//!
//! When a turn is over, that is when the last frame of its hold is gone (or when a hold that was
//! handed over is dropped before its body began), and the hold heads its line:
//!
//! 1. **Lost?** The deadline is compared with the clock now; a loss that was told counts, too. A
//!    lost lease is never passed on: the owner is ended, and the next in line begins anew with an
//!    owner of its own. So a lease that is lost is lost for whoever has it.
//! 2. **May the next in line have it?** All of these, or it may not:
//!    - it is the first in line, and still there: nobody is skipped, so order inside a process
//!      stays;
//!    - what it asks for first (its ttl, or its `max_hold` if that is shorter) is the grant's ttl;
//!    - at least two thirds of that ttl are left until the deadline;
//!    - turn + 1 < N;
//!    - nobody queues in Redis as far as the last answer said, or the grant is younger than 1 s.
//! 3. **It may**: turn + 1. Its token is start + turn, and no answer changes that: `renew` and
//!    `acquire` answer with start. The owner, the deadline, the renewals under way and what is known
//!    of them stay as they are; nothing counts from the hand-over. A guard of an earlier turn is not
//!    valid in a later one: the hold that it sees ended with its turn. `max_hold` and `renew` are the
//!    new caller's, its `max_hold` counts from the hand-over, and its deadline is the earlier of the
//!    two. No command is sent. The call whose turn is over succeeds by the deadline alone.
//! 4. **It may not**: the owner is ended, with the next in line named (`end owner, next`): its own
//!    ttl, a new owner, a new grant if nobody queues, else the queue's tail. If the answer says that
//!    `next` holds, whoever is first in line by then takes it: at once if its ttl is the one that
//!    was named, else by an `acquire` first. If nobody is in line any more, `next` is ended.
//!
//! Whoever is handed a turn compares the deadline once more before its body begins, as everybody
//! does. If it is gone (dropped, or its time was up at that moment), its token is spent and its turn
//! is over: start again from 1. The turn goes by value to exactly one caller, so that it cannot be
//! had by two or by nobody.
//!
//! Renewal stays with the grant and not with the turn: an answer to a renewal that was sent in an
//! earlier turn lengthens the lease of the present one, unless that is lost by then. "Not yours"
//! loses the lock for whoever has it when the answer is read.
//!
//! # Retained leases
//!
//! A caller may ask for its lease to be *retained* for a while after its body. Then there is a hold that
//! no caller has, and its line has a head and nobody behind it.
//!
//! 5. **When.** A body is over, rule 3 has no next one since nobody is in line, and all of these are
//!    true, or the lease is given back as it would be otherwise:
//!    - the lease is not lost, and no renewal of it is under way or went unanswered;
//!    - its client has had one connection since it has the lease, and what it knows of the lease comes from
//!      that one: messages may be missed in between, and the next one may lead to a server that does not
//!      know the lease;
//!    - turn + 1 < N, so that there is a token for the next one;
//!    - nobody queues in Redis, by the last answer and by every message since: what others want is
//!      never retained, be the grant as young as it may;
//!    - more than two thirds of its ttl are left.
//!
//!    A hold that no body began under is not retained, nor one that is given back because it was lost,
//!    or because its client ends. The call whose body is over succeeds by the deadline alone, as in 3.
//! 6. **How long.** For the time that its last caller asked for, or until only two thirds of its ttl are
//!    left, if that is sooner: after that nobody may have it. A retained lease is not renewed.
//! 7. **Who takes it.** The next caller of the key in the same client, whether it would wait or not, if
//!    the time of 6 is not over, and by rule 2. It is a turn like any other, by rule 3, and what
//!    becomes of the lease then is up to this caller. If it may not, the owner is ended, and the caller
//!    heads the line with an owner of its own, whose first command follows that end on the same
//!    connection.
//! 8. **What ends it.** The time of 6; a message that somebody queues; a connection that breaks, since
//!    messages may be missed, and since the next one may lead to a server that does not know the lease;
//!    the answer "not yours"; the end of the client. The owner is ended at once, and the turn of the line
//!    goes on: a caller that comes meanwhile stands behind it, and is named in that end or begins anew.
//!
//! A message comes before the body is over, and then rule 5 gives the lease back; or after that, and
//! then rule 8 does. A message that is lost costs others the time of 6.
//!
//! # What holds then
//!
//! One body runs at a time, inside a process and across them. Tokens rise with every body. The head
//! of the queue, if it lives, waits for no more than N bodies of another process. The model is
//! explored with N of 2 and 3; `configurations::turns` and `configurations::retained` list what it
//! meets.

use super::ClientRules;
use crate::audit::Breach;
use crate::client::{Body, Client, Lease, Phase};
use crate::seeded::Seeded;
use crate::server::{Ticks, Token};

impl Client {
    /// Passes the lease on to the next caller of this process, if it may be.
    pub(super) fn hand_over(&mut self, index: usize, rules: &ClientRules) -> Result<bool, Breach> {
        let Some(&ttl) = self.local_queue.first() else {
            return Ok(false);
        };
        let Phase::Held(lease) = &self.owners[index].phase else {
            return Ok(false);
        };
        let heads_queue = self.owners[index].heads_queue;
        if !heads_queue || !may_hand_over(lease, self.owners[index].ttl, ttl, rules) {
            return Ok(false);
        }
        self.local_queue.remove(0);
        self.begin_turn(index, ttl, rules)?;
        Ok(true)
    }

    /// The lease goes to another caller as it is.
    fn begin_turn(&mut self, index: usize, ttl: Ticks, rules: &ClientRules) -> Result<(), Breach> {
        let owner = &mut self.owners[index];
        let Phase::Held(lease) = &mut owner.phase else {
            unreachable!("only a held lease is handed over");
        };
        lease.turn += 1;
        if rules.seeded != Some(Seeded::TokenReused) {
            lease.token += 1;
        }
        (lease.body, lease.retained) = (Body::Outside, 0);
        if rules.seeded == Some(Seeded::LeaseFromTurn) {
            lease.deadline = ttl;
        }
        owner.ttl = ttl;
        let is_short = 3 * lease.deadline < 2 * ttl && rules.seeded != Some(Seeded::TurnUnchecked);
        if is_short {
            return Err(Breach::ShortTurn);
        }
        Ok(())
    }

    /// Retains the lease of a body that is over for the next caller, if it may be.
    pub(super) fn retain(&mut self, index: usize, rules: &ClientRules) -> bool {
        let owner = &mut self.owners[index];
        let Phase::Held(lease) = &mut owner.phase else {
            return false;
        };
        let is_last =
            lease.body == Body::Inside && owner.heads_queue && self.local_queue.is_empty();
        let is_torn = lease.torn && !is_seeded(rules, Seeded::RetainedTorn);
        let is_sure = lease.is_valid() && !lease.renewing && !is_torn;
        let has_token =
            Token::from(lease.turn) + 1 < rules.turns || is_seeded(rules, Seeded::RangeUnbounded);
        // What is left above two thirds, rounded down.
        let room = (3 * lease.deadline - 2 * owner.ttl).div_euclid(3);
        let time = rules.retain.min(room);
        if !is_last || !is_sure || !has_token || lease.contended || time <= 0 {
            return false;
        }
        (lease.body, lease.retained) = (Body::Over, time);
        true
    }

    /// The lease that is retained.
    pub(super) fn retained(&self) -> Option<usize> {
        let is_over = |lease: &Lease| lease.body == Body::Over;
        let mut owners = self.owners.iter();
        owners.position(|owner| owner.lease().is_some_and(is_over))
    }

    /// A caller comes: it takes the lease that is retained, or ends it.
    pub(super) fn resume(&mut self, ttl: Ticks, rules: &ClientRules) -> Result<bool, Breach> {
        let Some(index) = self.retained() else {
            return Ok(false);
        };
        let owner = &self.owners[index];
        let lease = *owner.lease().expect("the lease is retained");
        let is_late = lease.retained == 0;
        let may = !is_late && may_hand_over(&lease, owner.ttl, ttl, rules);
        if may || is_seeded(rules, Seeded::RetainedLate) {
            self.begin_turn(index, ttl, rules)?;
            return if is_late {
                Err(Breach::TakenLate)
            } else {
                Ok(true)
            };
        }
        (self.owners[index].heads_queue, self.has_head) = (false, false);
        self.release(index, rules)?;
        Ok(false)
    }
}

/// Whether a lease may go to a caller that asks for `next`.
fn may_hand_over(lease: &Lease, ttl: Ticks, next: Ticks, rules: &ClientRules) -> bool {
    let Some(max_local_time) = rules.max_local_time else {
        return false;
    };
    let is = |mistake| is_seeded(rules, mistake);
    let is_held = lease.is_valid();
    let fits = next == ttl && 3 * lease.deadline >= 2 * ttl;
    let is_held = is_held && (fits || is(Seeded::TurnUnfit)) || is(Seeded::TurnUnchecked);
    let has_token = Token::from(lease.turn) + 1 < rules.turns || is(Seeded::RangeUnbounded);
    let is_fair = !lease.contended || lease.since < max_local_time;
    is_held && has_token && is_fair
}

fn is_seeded(rules: &ClientRules, mistake: Seeded) -> bool {
    rules.seeded == Some(mistake)
}
