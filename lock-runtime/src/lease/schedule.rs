//! The arithmetic of a lease: until when its holder may rely on it, and when to renew it.
//!
//! A lease counts from the instant *before* the request that the server confirmed was sent, and
//! ends a little before the server lets it go, so a holder gives up first even if the two clocks
//! run at slightly different speeds. The rule is the one of Redlock's validity time, without
//! which a slow reply would be counted as time that is still held:
//! <https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/>.

use std::time::Duration;

use crate::background::moment::Moment;

/// The shortest ttl, below which the margin and one round trip leave nothing to work in.
pub(crate) const MIN_TTL: Duration = Duration::from_millis(20);

/// The longest ttl: what a crashed holder leaves behind is free again within a day.
pub(crate) const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// However short a lease, a renewal is given this long before the next one follows it.
const SHORTEST_REPEAT: Duration = Duration::from_millis(10);

/// What falls due within this time of each other is renewed together.
pub(crate) const TICK: Duration = Duration::from_millis(2);

/// How much earlier the holder gives up than the server: 1 % for clocks that differ in speed, and
/// 2 ms for the server's resolution.
pub(crate) fn margin(ttl: Duration) -> Duration {
    ttl / 100 + Duration::from_millis(2)
}

/// Whether a lease of `ttl` with this deadline goes as far as `end` lets it.
pub(crate) fn reaches(deadline: Moment, end: Moment, ttl: Duration) -> bool {
    end != Moment::NEVER && deadline + margin(ttl) >= end
}

/// When to renew a lease of `ttl` that was confirmed at `sent`: after a third of the ttl at the
/// latest, and after a twelfth at the earliest.
///
/// In between it is moved to the lease's beat, which is its own: locks that were taken in one burst,
/// or confirmed together after an outage, are renewed evenly over the third from then on, and not in
/// a burst each time. A lease that is on its beat is not renewed more often than it would be without.
fn next_renewal(sent: Moment, ttl: Duration, beat: Phase) -> Moment {
    let third = ttl / 3;
    // A renewal may be sent by a tick before its beat, and must reach the next beat then as well.
    let period = third.saturating_sub(TICK);
    let due = beat.last_until(sent + third, period);
    if due >= sent + third / 4 {
        return due;
    }
    // Too soon: half a period later it is between two beats, and on the beat the next time.
    due + period / 2
}

/// Where a lease's renewals lie in the time that they repeat after, in parts of 2³².
#[derive(Clone, Copy, Debug)]
struct Phase(u32);

impl Phase {
    /// A beat for a lease that was granted at `at`, by chance: hardly any two are granted in the same
    /// nanosecond, and these are shuffled (by the last steps of splitmix64).
    fn of(at: Moment) -> Phase {
        let mut bits = at.as_nanos();
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Phase((bits >> 32) as u32)
    }

    /// The last beat that is not after `until`.
    fn last_until(self, until: Moment, period: Duration) -> Moment {
        let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
        let offset = (u128::from(period) * u128::from(self.0)) >> 32;
        let until = u128::from(until.as_nanos());
        let since = until.saturating_sub(offset) % u128::from(period);
        Moment::from_nanos((until - since) as u64)
    }
}

/// How an acquisition wants its lease kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseTerms {
    pub(crate) ttl: Duration,
    pub(crate) renew: bool,
    pub(crate) max_hold: Option<Duration>,
    /// For how long the lease stays with its client after the body, if nobody else wants it; zero is not
    /// at all.
    pub(crate) retain: Duration,
}

impl LeaseTerms {
    /// The ttl to ask for at first: no longer than the lock may be held at all.
    pub(crate) fn first_ttl(&self) -> Duration {
        self.max_hold
            .map_or(self.ttl, |max| max.clamp(MIN_TTL, self.ttl))
    }
}

/// What a lease needs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing before this moment.
    At(Moment),
    /// A renewal.
    Renew(Extension),
    /// The deadline has passed.
    Lost,
}

/// What a renewal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) ttl: Duration,
    /// It carries the lease on; else it restores what the holder counts on, and no more.
    pub(crate) extends: bool,
}

/// A lease that was confirmed at least once.
///
/// Its states are those of a watchdog: *held* and *renewed* while the last answer was good,
/// *unknown* while renewals go unanswered, *lost* once the deadline has passed.
#[derive(Clone, Debug)]
pub(crate) struct RenewalSchedule {
    ttl: Duration,
    deadline: Moment,
    /// Where `max_hold` ends.
    end: Moment,
    beat: Phase,
    /// `None` when no renewal is to come.
    renew_at: Option<Moment>,
    renews: bool,
    /// Renewals that were handed out since the last confirmation.
    unknown: u32,
    /// While it is to be confirmed: when its next regular renewal is due. Else the beginning of time.
    quiet_until: Moment,
}

impl RenewalSchedule {
    /// A lease confirmed by an answer to a request that was sent at `sent`.
    pub(crate) fn granted(sent: Moment, terms: &LeaseTerms) -> RenewalSchedule {
        let end = terms.max_hold.map_or(Moment::NEVER, |max| sent + max);
        let mut schedule = RenewalSchedule {
            ttl: terms.ttl,
            deadline: sent,
            end,
            beat: Phase::of(sent),
            renew_at: None,
            renews: terms.renew,
            unknown: 0,
            quiet_until: Moment::FIRST,
        };
        schedule.confirmed(sent, terms.first_ttl());
        schedule
    }

    /// Until when the holder may rely on the lease.
    pub(crate) fn deadline(&self) -> Moment {
        self.deadline
    }

    /// Where `max_hold` ends.
    pub(crate) fn end(&self) -> Moment {
        self.end
    }

    /// Whether `max_hold`, and not the ttl, is what ends this lease.
    pub(crate) fn ends_by_max_hold(&self) -> bool {
        reaches(self.deadline, self.end, self.ttl)
    }

    /// What is due at `now`. A renewal that is handed out is due again after a while, unless its
    /// outcome is reported before.
    pub(crate) fn due(&mut self, now: Moment) -> Due {
        if now >= self.deadline {
            return Due::Lost;
        }
        match self.renew_at {
            Some(at) if now >= at => Due::Renew(self.hand_out(now)),
            _ => Due::At(self.next_due()),
        }
    }

    /// Puts off a renewal that is due, as nobody has the lease yet.
    pub(crate) fn postpone(&mut self, now: Moment) {
        let again = now + self.repeat();
        self.renew_at = self.renew_at.map(|at| if at <= now { again } else { at });
    }

    /// What is known of the lease may not be true any more: until it is confirmed, a renewal that fails is
    /// no news before one would have been due.
    pub(crate) fn doubted(&mut self) {
        let regular = self.renew_at.unwrap_or(Moment::NEVER);
        if self.quiet_until == Moment::FIRST {
            self.quiet_until = regular;
        }
    }

    /// Whether a renewal that fails now is no news.
    pub(crate) fn is_quiet(&self, now: Moment) -> bool {
        now < self.quiet_until
    }

    /// A renewal out of turn, repeated as any other until it is confirmed; `None` if the deadline has
    /// passed.
    pub(crate) fn confirmation(&mut self, now: Moment) -> Option<Extension> {
        (now < self.deadline).then(|| self.hand_out(now))
    }

    fn hand_out(&mut self, now: Moment) -> Extension {
        // Should no answer come, or come late, the next one follows soon; the first answer of any of them
        // counts.
        self.renew_at = Some(now + self.repeat());
        self.unknown = self.unknown.saturating_add(1);
        if self.renews && !self.ends_by_max_hold() {
            return Extension {
                ttl: self.extension(now),
                extends: true,
            };
        }
        // As long as its holder counts on, and the margin for that time: ttl - ttl / 100 - 2 ms is the rest.
        let rest = self.deadline.since(now) + margin(Duration::ZERO);
        Extension {
            ttl: rest + rest / 99 + Duration::from_millis(1),
            extends: false,
        }
    }

    fn repeat(&self) -> Duration {
        (self.ttl / 6).max(SHORTEST_REPEAT)
    }

    /// When to ask what is due.
    pub(crate) fn next_due(&self) -> Moment {
        self.renew_at
            .map_or(self.deadline, |at| at.min(self.deadline))
    }

    /// The ttl that a renewal at `now` asks for: a full one, or what is left of `max_hold`.
    pub(crate) fn extension(&self, now: Moment) -> Duration {
        self.ttl.min(self.end.since(now))
    }

    /// The server confirmed the lease for `ttl`, in answer to a request sent at `sent`.
    pub(crate) fn confirmed(&mut self, sent: Moment, ttl: Duration) {
        let until = sent + ttl.saturating_sub(margin(ttl));
        self.deadline = self.deadline.max(until.min(self.end));
        self.unknown = 0;
        self.quiet_until = Moment::FIRST;
        // Within the margin of max_hold a renewal would carry the lease no further.
        self.renew_at =
            (self.renews && !self.ends_by_max_hold()).then(|| next_renewal(sent, ttl, self.beat));
    }

    /// The server confirmed the lease as it is.
    pub(crate) fn confirmed_as_it_is(&mut self) {
        self.unknown = 0;
        self.quiet_until = Moment::FIRST;
        self.renew_at = None;
    }

    /// The same lease for another holder, with terms of its own, from `now` on. What the server
    /// confirmed stays as it was.
    pub(crate) fn passed(&self, now: Moment, terms: &LeaseTerms) -> RenewalSchedule {
        let end = terms.max_hold.map_or(Moment::NEVER, |max| now + max);
        let mut schedule = RenewalSchedule {
            ttl: terms.ttl,
            deadline: self.deadline.min(end),
            end,
            beat: self.beat,
            renew_at: None,
            renews: terms.renew,
            unknown: self.unknown,
            quiet_until: self.quiet_until,
        };
        if schedule.renews && !schedule.ends_by_max_hold() {
            // The last holder may not have wanted any.
            let left = schedule.deadline.since(now);
            let at = now + left.saturating_sub(terms.ttl * 2 / 3);
            schedule.renew_at = Some(self.renew_at.unwrap_or(at));
        }
        schedule
    }

    /// A renewal failed or was not answered: try again soon. `jitter` is between 0 and 1.
    pub(crate) fn unanswered(&mut self, now: Moment, jitter: f64) {
        let ceiling = (self.ttl / 20).clamp(Duration::from_millis(5), Duration::from_millis(500));
        let base = (ceiling / 8)
            .saturating_mul(1 << self.unknown.min(4))
            .min(ceiling);
        let again = now + base.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0);
        self.renew_at = self.renew_at.map(|at| at.min(again));
    }

    /// Renewals that were handed out since the last confirmation.
    pub(crate) fn unknown(&self) -> u32 {
        self.unknown
    }
}

#[cfg(test)]
mod tests;
