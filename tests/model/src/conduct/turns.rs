//! Local turns: a lease goes from one caller of a process to the next without a command. The
//! runtime does not do this yet; what follows is what it has to do, and what the model does.
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
//! # What holds then
//!
//! One body runs at a time, inside a process and across them. Tokens rise with every body. The head
//! of the queue, if it lives, waits for no more than N bodies of another process. The model is
//! explored with N of 2 and 3; `configurations::turns` lists what it meets.

use super::Terms;
use crate::audit::Breach;
use crate::client::{Body, Client, Hold, Phase};
use crate::seeded::Seeded;
use crate::server::{Ticks, Token};

impl Client {
    /// Passes the lease on to the next caller of this process, if it may be.
    pub(super) fn take_turn(&mut self, index: usize, terms: &Terms) -> Result<bool, Breach> {
        let Some(&ttl) = self.line.first() else {
            return Ok(false);
        };
        let episode = &mut self.episodes[index];
        let Phase::Held(hold) = &mut episode.phase else {
            return Ok(false);
        };
        if !episode.heads || !may_pass(hold, episode.ttl, ttl, terms) {
            return Ok(false);
        }
        hold.turn += 1;
        if terms.seeded != Some(Seeded::TokenReused) {
            hold.token += 1;
        }
        hold.body = Body::Outside;
        if terms.seeded == Some(Seeded::LeaseFromTurn) {
            hold.deadline = ttl;
        }
        episode.ttl = ttl;
        let is_short = 3 * hold.deadline < 2 * ttl && terms.seeded != Some(Seeded::TurnUnchecked);
        self.line.remove(0);
        if is_short {
            return Err(Breach::ShortTurn);
        }
        Ok(true)
    }
}

/// Whether a lease may go to a caller that asks for `next`.
fn may_pass(hold: &Hold, ttl: Ticks, next: Ticks, terms: &Terms) -> bool {
    let Some(spell) = terms.spell else {
        return false;
    };
    let is = |mistake| terms.seeded == Some(mistake);
    let is_held = hold.is_valid();
    let fits = next == ttl && 3 * hold.deadline >= 2 * ttl;
    let is_held = is_held && (fits || is(Seeded::TurnUnfit)) || is(Seeded::TurnUnchecked);
    let has_token = Token::from(hold.turn) + 1 < terms.turns || is(Seeded::RangeUnbounded);
    let is_fair = !hold.contended || hold.since < spell;
    is_held && has_token && is_fair
}
