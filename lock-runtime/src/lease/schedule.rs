//! The arithmetic of a lease: until when its holder may rely on it, and when to renew it.
//!
//! A lease counts from *before* the confirmed request was sent, and ends slightly before the server frees the lock, so
//! a holder gives up first, even if the two clocks run at slightly different speeds. This is Redlock's validity time,
//! without which the time of a slow reply would count as held:
//! <https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/>.
//!
//! # Invariants
//!
//! - A deadline counts from before the confirmed request was sent, less 1 % of the ttl and 2 ms, on a clock that keeps
//!   running while the machine sleeps.

use std::time::Duration;

use crate::background::moment::Moment;

/// The shortest ttl: below it the margin and one round trip leave no time to work.
pub(crate) const MIN_TTL: Duration = Duration::from_millis(20);

/// The longest ttl: a crashed holder's lock is free again within a day.
pub(crate) const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// The shortest time between two renewals, however short the lease.
const SHORTEST_REPEAT: Duration = Duration::from_millis(10);

/// Leases that fall due within this time are renewed together.
pub(crate) const TICK: Duration = Duration::from_millis(2);

/// Returns how much earlier than the server the holder gives up: 1 % for clocks that differ in speed, and 2 ms for the
/// server's resolution.
pub(crate) fn margin(ttl: Duration) -> Duration {
    ttl / 100 + Duration::from_millis(2)
}

/// Returns whether a lease that was confirmed in answer to a command sent at `at` has time left.
pub(crate) fn is_fresh(now: Moment, at: Moment, ttl: Duration) -> bool {
    now < at + ttl.saturating_sub(margin(ttl))
}

/// Returns whether a lease of `ttl` with this deadline lasts as long as `end` allows.
pub(crate) fn reaches(deadline: Moment, end: Moment, ttl: Duration) -> bool {
    end != Moment::NEVER && deadline + margin(ttl) >= end
}

/// Returns when to renew a lease of `ttl` that was confirmed at `sent`: after a third of the ttl at the latest, and
/// after a twelfth at the earliest.
///
/// Within this range, the renewal is moved to the lease's own phase. Leases that were granted in one burst, or
/// confirmed together after an outage, are therefore renewed evenly over the third, not in a burst each time. A lease
/// in phase is not renewed more often than without phases.
fn next_renewal(sent: Moment, ttl: Duration, phase: Phase) -> Moment {
    let third = ttl / 3;
    // A renewal may be sent a tick before its phase, and must still reach the next one.
    let period = third.saturating_sub(TICK);
    let due = phase.last_until(sent + third, period);
    if due >= sent + third / 4 {
        return due;
    }
    // Too early. This renewal is half a period later, out of phase, and the next one is in phase.
    due + period / 2
}

/// The position of a lease's renewals in their period, in parts of 2³².
#[derive(Clone, Copy, Debug)]
struct Phase(u32);

impl Phase {
    /// Returns a pseudo-random phase for a lease that was granted at `at`: two leases are rarely granted in the same
    /// nanosecond, and the last steps of splitmix64 shuffle the nanoseconds.
    fn of(at: Moment) -> Phase {
        let mut bits = at.as_nanos();
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Phase((bits >> 32) as u32)
    }

    /// Returns the last moment in phase that is not after `until`.
    fn last_until(self, until: Moment, period: Duration) -> Moment {
        let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
        let offset = (u128::from(period) * u128::from(self.0)) >> 32;
        let until = u128::from(until.as_nanos());
        let since = until.saturating_sub(offset) % u128::from(period);
        Moment::from_nanos((until - since) as u64)
    }
}

/// The terms on which an acquisition holds its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseTerms {
    pub(crate) ttl: Duration,
    pub(crate) renew: bool,
    pub(crate) max_hold: Option<Duration>,
    /// How long the lease stays with its client after the body, if no other client waits for it; zero releases it at
    /// once.
    pub(crate) retain: Duration,
    /// The minimum hold in ms: the lock stays taken for this long, even if its holder is done earlier; zero for no
    /// minimum. A small integer, since every lease has one.
    pub(crate) min_hold_ms: u32,
}

impl LeaseTerms {
    /// Returns the ttl of the first request, at most `max_hold`.
    pub(crate) fn first_ttl(&self) -> Duration {
        self.max_hold
            .map_or(self.ttl, |max| max.clamp(MIN_TTL, self.ttl))
    }
}

/// The next step of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing before this moment.
    At(Moment),
    /// A renewal now.
    Renew(Extension),
    /// The deadline has passed.
    Lost,
}

/// The request of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) ttl: Duration,
    /// Whether it prolongs the lease; if not, it only restores the time on which the holder relies.
    pub(crate) extends: bool,
}

/// The deadline and the next renewal of a lease that was confirmed at least once.
///
/// The lease is *held* while the last renewal was confirmed, *unconfirmed* while renewals are unanswered, and
/// *lost* once the deadline has passed.
#[derive(Clone, Debug)]
pub(crate) struct RenewalSchedule {
    ttl: Duration,
    deadline: Moment,
    /// Where `max_hold` ends.
    end: Moment,
    phase: Phase,
    /// `None` if no renewal follows.
    renew_at: Option<Moment>,
    renews: bool,
    /// Renewals that were sent since the last confirmation.
    unconfirmed: u32,
    /// Failed renewals are not reported before this moment: the next regular renewal of a lease in doubt. With `FIRST`,
    /// all are reported.
    quiet_until: Moment,
}

impl RenewalSchedule {
    /// Creates the schedule of a lease that was confirmed by the answer to a request sent at `sent`.
    pub(crate) fn granted(sent: Moment, terms: &LeaseTerms) -> RenewalSchedule {
        let end = terms.max_hold.map_or(Moment::NEVER, |max| sent + max);
        let mut schedule = RenewalSchedule {
            ttl: terms.ttl,
            deadline: sent,
            end,
            phase: Phase::of(sent),
            renew_at: None,
            renews: terms.renew,
            unconfirmed: 0,
            quiet_until: Moment::FIRST,
        };
        schedule.confirmed(sent, terms.first_ttl());
        schedule
    }

    /// Returns until when the holder may rely on the lease.
    pub(crate) fn deadline(&self) -> Moment {
        self.deadline
    }

    /// Returns where `max_hold` ends.
    pub(crate) fn end(&self) -> Moment {
        self.end
    }

    /// Returns whether `max_hold`, not the ttl, ends this lease.
    pub(crate) fn ends_by_max_hold(&self) -> bool {
        reaches(self.deadline, self.end, self.ttl)
    }

    /// Returns the step that is due at `now`. A renewal is due again after a while, unless its outcome is reported
    /// earlier.
    pub(crate) fn due(&mut self, now: Moment) -> Due {
        if now >= self.deadline {
            return Due::Lost;
        }
        match self.renew_at {
            Some(at) if now >= at => Due::Renew(self.request(now)),
            _ => Due::At(self.next_due()),
        }
    }

    /// Postpones a due renewal, since the lease is not delivered yet.
    pub(crate) fn postpone(&mut self, now: Moment) {
        let again = now + self.repeat();
        self.renew_at = self.renew_at.map(|at| if at <= now { again } else { at });
    }

    /// Notes that the server may no longer have the lease. A renewal that fails before the next regular renewal would
    /// have been due is not reported.
    pub(crate) fn doubted(&mut self) {
        let regular = self.renew_at.unwrap_or(Moment::NEVER);
        if self.quiet_until == Moment::FIRST {
            self.quiet_until = regular;
        }
    }

    /// Returns whether a renewal that fails now goes unreported.
    pub(crate) fn is_quiet(&self, now: Moment) -> bool {
        now < self.quiet_until
    }

    /// Returns an early renewal, which is repeated like any other until it is confirmed; `None` if the deadline has
    /// passed.
    pub(crate) fn confirmation(&mut self, now: Moment) -> Option<Extension> {
        (now < self.deadline).then(|| self.request(now))
    }

    fn request(&mut self, now: Moment) -> Extension {
        // If no answer comes, or a late one, the next request follows soon. The first answer to any of them
        // counts.
        self.renew_at = Some(now + self.repeat());
        self.unconfirmed = self.unconfirmed.saturating_add(1);
        if self.renews && !self.ends_by_max_hold() {
            return Extension {
                ttl: self.extension(now),
                extends: true,
            };
        }
        // Solves `ttl - ttl / 100 - 2 ms = remaining time`: the margin of this ttl leaves the time on which the holder
        // relies.
        let rest = self.deadline.since(now) + margin(Duration::ZERO);
        Extension {
            ttl: rest + rest / 99 + Duration::from_millis(1),
            extends: false,
        }
    }

    fn repeat(&self) -> Duration {
        (self.ttl / 6).max(SHORTEST_REPEAT)
    }

    /// Returns when the next step is due.
    pub(crate) fn next_due(&self) -> Moment {
        self.renew_at
            .map_or(self.deadline, |at| at.min(self.deadline))
    }

    /// Returns the ttl of a renewal at `now`: a full ttl, or the rest of `max_hold`.
    pub(crate) fn extension(&self, now: Moment) -> Duration {
        self.ttl.min(self.end.since(now))
    }

    /// Notes that the server confirmed the lease for `ttl`, in its answer to a request sent at `sent`.
    pub(crate) fn confirmed(&mut self, sent: Moment, ttl: Duration) {
        let until = sent + ttl.saturating_sub(margin(ttl));
        self.deadline = self.deadline.max(until.min(self.end));
        self.unconfirmed = 0;
        self.quiet_until = Moment::FIRST;
        // Within the margin of max_hold a renewal would not prolong the lease.
        self.renew_at =
            (self.renews && !self.ends_by_max_hold()).then(|| next_renewal(sent, ttl, self.phase));
    }

    /// Notes that the server confirmed the lease without prolonging it.
    pub(crate) fn confirmed_as_it_is(&mut self) {
        self.unconfirmed = 0;
        self.quiet_until = Moment::FIRST;
        self.renew_at = None;
    }

    /// Returns the schedule of the next holder, to which the lease is handed over at `now`, with its own terms. The
    /// time that the server confirmed is unchanged.
    pub(crate) fn handed_over(&self, now: Moment, terms: &LeaseTerms) -> RenewalSchedule {
        let end = terms.max_hold.map_or(Moment::NEVER, |max| now + max);
        let mut schedule = RenewalSchedule {
            ttl: terms.ttl,
            deadline: self.deadline.min(end),
            end,
            phase: self.phase,
            renew_at: None,
            renews: terms.renew,
            unconfirmed: self.unconfirmed,
            quiet_until: self.quiet_until,
        };
        if schedule.renews && !schedule.ends_by_max_hold() {
            // The last holder may have had no renewals.
            let left = schedule.deadline.since(now);
            let at = now + left.saturating_sub(terms.ttl * 2 / 3);
            schedule.renew_at = Some(self.renew_at.unwrap_or(at));
        }
        schedule
    }

    /// Notes that a renewal failed or was not answered; the next one follows soon. `jitter` is between 0 and 1.
    pub(crate) fn unanswered(&mut self, now: Moment, jitter: f64) {
        let ceiling = (self.ttl / 20).clamp(Duration::from_millis(5), Duration::from_millis(500));
        let base = (ceiling / 8)
            .saturating_mul(1 << self.unconfirmed.min(4))
            .min(ceiling);
        let again = now + base.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0);
        self.renew_at = self.renew_at.map(|at| at.min(again));
    }

    /// Renewals that were sent since the last confirmation.
    pub(crate) fn unconfirmed(&self) -> u32 {
        self.unconfirmed
    }
}

#[cfg(test)]
mod tests;
