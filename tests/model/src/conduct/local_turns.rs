//! Local turns: a lease goes from one caller of a process to the next without a command. The
//! runtime's machine (`engine::holding`) decides by the rule below; this module carries out its
//! turns.
//!
//! # The rule
//!
//! A *grant* is one owner's lease, from the answer that made it the holder to its own `end`. That
//! answer responds to `acquire`, or to the `end` that named the owner as successor. The grant owns
//! the tokens start … start + N − 1. Start is the token of that answer, and N is 16, as in the
//! scripts. A grant has a turn, which counts from 0, a ttl, a deadline, and the time of the answer.
//!
//! A turn is over when the last frame of its lease is gone, or when a lease that was handed over is
//! dropped before its body began. If the owner then heads its local queue:
//!
//! 1. **Is it lost?** The deadline is compared with the current time; a loss that an answer reports
//!    counts, too. A lost lease is never handed over: the owner is ended, and the next caller
//!    begins with its own owner. A loss is thus a loss for every caller of the grant.
//! 2. **May the next caller have it?** Only if all of these hold:
//!    - the caller is the first of the local queue, and has not given up: no caller is skipped, so
//!      the order inside a process stays;
//!    - the ttl that it asks for first (its `max_hold` if that is shorter) is the grant's ttl;
//!    - at least two thirds of that ttl are left until the deadline;
//!    - turn + 1 < N;
//!    - no waiter queues in Redis, or the grant is younger than 1 s. The client learns of a waiter
//!      from the answer to a grant or a renewal, or from a message. A broken connection counts as
//!      such a message, since one may have been missed.
//! 3. **It may.** The turn rises by one, and no command is sent. The turn's token is start + turn. No
//!    answer changes that: `renew` and `acquire` answer with start. The owner, its deadline and the
//!    renewals under way stay as they are; nothing counts from the hand-over. A guard of an earlier
//!    turn is not valid in a later one, since its lease ended with its turn. `max_hold` and `renew`
//!    are the new caller's. Its `max_hold` counts from the hand-over, and the earlier of the two
//!    deadlines applies. The call whose turn is over succeeds if the deadline has not passed.
//! 4. **It may not.** The owner is ended in favour of a successor (`end owner, successor`): a new
//!    owner with the next caller's ttl. If no waiter queues, the successor gets a new grant, else the
//!    tail of the queue. If the answer says that the successor holds, the caller that is first by then
//!    takes the lease: at once if it asks for the ttl of that `end`, else after an `acquire`. If the
//!    local queue is empty by then, the successor is ended.
//!
//! A caller that is handed a turn compares the deadline once more before its body begins, as every
//! caller does. If that caller has given up (dropped, or its time was up at that moment), the token is
//! spent and the turn is over: the rule starts again at 1. A turn goes by value to one caller, so
//! exactly one caller has it.
//!
//! A renewal belongs to the grant and not to a turn. An answer to a renewal of an earlier turn
//! lengthens the lease of the present one, unless that is lost by then. The answer "not yours" loses
//! the lock for the caller that has it when the answer is read.
//!
//! # A grant without a token
//!
//! A lock that was taken by a plain command has no token, and its turns have none either. When a
//! body asks for one, the server mints it, and the body gets the grant's token plus its own turn.
//! Later turns get theirs without a command. If the answer comes after the turn, the next body that
//! asks gets the same token of the grant.
//!
//! # Retained leases
//!
//! A caller may ask for its lease to be *retained* for a while after its body. Then no caller has the
//! lease, and its local queue has a head and no waiter behind it.
//!
//! 5. **When.** A body is over and the local queue is empty. The lease is retained if all of these hold,
//!    and released otherwise:
//!    - the lease is not lost, and no renewal of it is under way or went unanswered;
//!    - its client has had one connection since the grant, which brought every answer about it. The
//!      next connection may lead to a server that does not know the lease;
//!    - turn + 1 < N, so that the next caller gets a token;
//!    - no waiter queues in Redis, according to the last answer and every message since: a
//!      contended lease is never retained, however young its grant is;
//!    - more than two thirds of its ttl are left.
//!
//!    A lease is not retained if no body began under it, or if it is released because it was lost
//!    or its client ends. The call whose body is over succeeds if the deadline has not passed, as
//!    in 3.
//! 6. **How long.** For the time that its last caller asked for, but no longer than two thirds of
//!    its ttl are left: after that no caller may have it. A retained lease is not renewed.
//! 7. **Which caller takes it.** The next caller of the key in the same client, whether it would
//!    wait or not, if the time of 6 is not over and rule 2 allows it. It is a turn like any other,
//!    by rule 3. If the caller may not have it, the owner is ended, and the caller heads the local
//!    queue with its own owner. That owner's first command follows the `end` on the same
//!    connection.
//! 8. **What ends it.** The end of the time of 6; a message that a waiter queues; a broken
//!    connection, for the reasons in 5; the answer "not yours"; the end of the client. The owner
//!    and its local queue are ended immediately: a caller that arrives meanwhile heads a new queue
//!    with its own owner.
//!
//! If nobody waits for the answer to a release, the lease leaves its local queue immediately when
//! the queue is empty.
//!
//! A message that arrives before the body is over makes rule 5 release the lease; one that arrives later
//! ends it by rule 8. If the message is lost, waiters wait for the time of 6.
//!
//! # What holds then
//!
//! One body runs at a time, inside a process and across processes. Tokens rise with every body. A live
//! head of the queue waits for at most N bodies of another process. The model is explored with N of
//! 2 and 3; `configurations::turns` and `configurations::retained` list the scenarios.

use std::time::Duration;

use super::Awaited;
use crate::audit::Breach;
use crate::backend::engine::holding::{Done, Facts, MAX_LOCAL_TIME};
use crate::backend::engine::{NOW_HELD, before_now};
use crate::background::moment::Moment;
use crate::client::{Body, Client, Lease, Phase};
use crate::configuration::Configuration;
use crate::seeded::Seeded;
use crate::server::Ticks;

/// The limits of local turns, and the length of a tick for the runtime's decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalTurns {
    are_taken: bool,
    /// Zero without local turns: then no grant is too old.
    pub(crate) tick: Duration,
}

impl LocalTurns {
    /// How long a lease is handed over while waiters queue in Redis; `None` is never, queue or not.
    pub(crate) fn of(max_local_time: Option<Ticks>) -> LocalTurns {
        let tick = max_local_time.map(|ticks| {
            let nanos = MAX_LOCAL_TIME.as_nanos() as u64;
            Duration::from_nanos(nanos.div_ceil(u64::from(ticks.unsigned_abs())))
        });
        LocalTurns {
            are_taken: tick.is_some(),
            tick: tick.unwrap_or_default(),
        }
    }

    fn duration(&self, ticks: Ticks) -> Duration {
        self.tick * ticks.max(0).unsigned_abs()
    }

    /// The moment of a grant of that age.
    pub(super) fn granted_before(&self, age: Ticks) -> Moment {
        before_now(self.duration(age))
    }
}

impl Client {
    /// Hands the lease over to the next caller of this process, if the rule allows it.
    pub(super) fn hand_over(
        &mut self,
        index: usize,
        rules: &Configuration,
    ) -> Result<bool, Breach> {
        let owner = &self.owners[index];
        let Phase::Held(lease) = &owner.phase else {
            return Ok(false);
        };
        // A lock that is becoming a share is not handed over.
        if !lease.holding.heads_queue() || owner.share.is_some() {
            return Ok(false);
        }
        let next = self.queue.pop_if(|&next| {
            let facts = facts(lease, owner.ttl, next, rules);
            let done = lease.holding.done(
                Some(rules.turns_in_time().duration(next)),
                Duration::ZERO,
                &facts,
            );
            (done == Done::HandsOver).then_some(())
        });
        let Some((ttl, ())) = next else {
            return Ok(false);
        };
        self.begin_turn(index, ttl, rules)?;
        Ok(true)
    }

    /// Begins the next turn of the lease: owner, deadline and renewals stay.
    fn begin_turn(
        &mut self,
        index: usize,
        ttl: Ticks,
        rules: &Configuration,
    ) -> Result<(), Breach> {
        let owner = &mut self.owners[index];
        owner.ttl = ttl;
        let number = owner.number;
        let lease = owner.held();
        lease.holding.handed_over();
        // A token that is minted later counts the turn.
        if lease.token > 0 && rules.seeded != Some(Seeded::TokenReused) {
            lease.token += 1;
        }
        lease.minting = false;
        (lease.body, lease.retained) = (Body::Outside, 0);
        lease.reserves = rules.at_least;
        if rules.seeded == Some(Seeded::LeaseFromTurn) {
            lease.deadline = ttl;
        }
        let is_short = 3 * lease.deadline < 2 * ttl && rules.seeded != Some(Seeded::TurnUnchecked);
        self.connection.stop_awaiting_mint(number);
        if is_short {
            return Err(Breach::ShortTurn);
        }
        Ok(())
    }

    /// Retains the lease of a body that is over for the next caller, if the rule allows it.
    pub(super) fn retain(&mut self, index: usize, rules: &Configuration) -> bool {
        let owner = &mut self.owners[index];
        let Phase::Held(lease) = &mut owner.phase else {
            return false;
        };
        let is_last = lease.holding.heads_queue() && self.queue.peek().is_none();
        if !is_last || owner.share.is_some() {
            return false;
        }
        let retain = rules.turns_in_time().duration(rules.retain);
        let facts = facts(lease, owner.ttl, owner.ttl, rules);
        let Done::Retains(time) = lease.holding.done(None, retain, &facts) else {
            return false;
        };
        // The tick that contains the end of the time is the last.
        let ticks = time
            .as_nanos()
            .div_ceil(rules.turns_in_time().tick.as_nanos());
        (lease.body, lease.retained) = (Body::Over, ticks as Ticks);
        true
    }

    /// The owner of the retained lease.
    pub(super) fn retained(&self) -> Option<usize> {
        let is_over = |lease: &Lease| lease.body == Body::Over;
        let mut owners = self.owners.iter();
        owners.position(|owner| owner.lease().is_some_and(is_over))
    }

    /// Gives a new caller the retained lease as its turn, or ends that lease.
    pub(super) fn resume(&mut self, ttl: Ticks, rules: &Configuration) -> Result<bool, Breach> {
        let Some(index) = self.retained() else {
            return Ok(false);
        };
        let owner = &mut self.owners[index];
        let before = owner.ttl;
        let lease = owner.held();
        let is_late = lease.retained == 0;
        let facts = facts(lease, before, ttl, rules);
        let may_go = lease
            .holding
            .may_go_to(rules.turns_in_time().duration(ttl), &facts);
        if !is_late && may_go || is_seeded(rules, Seeded::RetainedLate) {
            self.begin_turn(index, ttl, rules)?;
            return if is_late {
                Err(Breach::TakenLate)
            } else {
                Ok(true)
            };
        }
        // The caller is the head from now on.
        lease.holding.leave_queue();
        self.queue.pop();
        self.release(index, Awaited::No, rules)?;
        Ok(false)
    }
}

/// The facts that decide whether a caller that asks for `next` gets the lease.
fn facts(lease: &Lease, ttl: Ticks, next: Ticks, rules: &Configuration) -> Facts {
    let of = rules.turns_in_time();
    let facts = Facts {
        now: NOW_HELD,
        deadline: NOW_HELD + of.duration(lease.deadline),
        ttl: of.duration(ttl),
        is_named: false,
        reserves: lease.reservation() > 0,
        is_over: !lease.is_valid(),
        is_sure: lease.body == Body::Inside && !lease.is_unconfirmed,
        turns: if of.are_taken { rules.turns as u32 } else { 1 },
    };
    let fit = Facts {
        deadline: NOW_HELD + of.duration(next),
        ttl: of.duration(next),
        ..facts
    };
    match rules.seeded {
        Some(Seeded::TurnUnfit) => fit,
        Some(Seeded::TurnUnchecked) => Facts {
            is_over: false,
            reserves: false,
            ..fit
        },
        Some(Seeded::ReserveHandedOver) => Facts {
            reserves: false,
            ..facts
        },
        Some(Seeded::RangeUnbounded) if of.are_taken => Facts {
            turns: u32::MAX,
            ..facts
        },
        _ => facts,
    }
}

fn is_seeded(rules: &Configuration, mistake: Seeded) -> bool {
    rules.seeded == Some(mistake)
}
