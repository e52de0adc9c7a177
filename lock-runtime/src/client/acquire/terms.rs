//! Interprets the options of a call: how the lock is held, for how long, and which options contradict each other.

use std::time::Duration;

use super::Acquire;
use super::options::{Access, CallOptions};
use crate::config::{
    RETAINED, bounded_wait, check_max_hold, check_min_hold, check_retain, check_runs, check_ttl,
};
use crate::error::LockError;
use crate::lease::schedule::LeaseTerms;
use crate::lease::{Mode, Share};

impl Acquire {
    pub(super) fn bounded_wait(&self) -> Duration {
        bounded_wait(self.options.wait.unwrap_or(self.core.options.wait))
    }

    /// Returns how the call asks to hold the lock.
    pub(super) fn mode(&self) -> Result<Mode, LockError> {
        let checked = match self.options.mode() {
            Ok(Mode::Exclusive) if self.others.is_none() => return Ok(Mode::Exclusive),
            Ok(mode) => self.check_mode(mode).map(|()| mode),
            Err(error) => Err(error),
        };
        checked.map_err(|error| self.about_the_key(error))
    }

    fn check_mode(&self, mode: Mode) -> Result<(), LockError> {
        if mode != Mode::Exclusive {
            self.core.require("readers, writers and permits")?;
        }
        let retains = self.options.retain.is_some_and(|time| !time.is_zero());
        let refused = match mode.share() {
            Some(_) if retains => "a share of a lock is never retained",
            Some(_) if !self.options.minimum().is_zero() => "a share has no minimum hold",
            None if retains && self.others.is_some() => {
                "a lease of several locks is never retained"
            }
            _ => return Ok(()),
        };
        Err(LockError::invalid_options(refused))
    }

    /// Returns how long the lease lasts, and whether it is renewed, retained or reserved.
    pub(super) fn terms(&self) -> Result<LeaseTerms, LockError> {
        let (options, defaults) = (&self.options, &self.core.options);
        let ttl = options.ttl.unwrap_or(defaults.ttl);
        self.check_terms(ttl)
            .map_err(|error| self.about_the_key(error))?;
        Ok(LeaseTerms {
            ttl,
            renew: options.renew.unwrap_or(true),
            max_hold: options.max_hold,
            // The client's default applies to leases of all lengths.
            retain: options.retain.unwrap_or(defaults.retain.min(ttl / 3)),
            // Rounded up to a millisecond: the lock is never taken for less.
            min_hold_ms: match options.minimum() {
                Duration::ZERO => 0,
                time => u32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX),
            },
        })
    }

    fn check_terms(&self, ttl: Duration) -> Result<(), LockError> {
        let options = &self.options;
        check_ttl(ttl)?;
        self.core.limits.check_ttl(ttl)?;
        options.max_hold.map_or(Ok(()), check_max_hold)?;
        if let Some(retain) = options.retain.filter(|time| !time.is_zero()) {
            self.core.options.record.require_native(RETAINED)?;
            check_retain(retain, ttl)?;
        }
        if let Some(runs) = options.runs {
            check_runs(runs)?;
            self.core.limits.require("run history")?;
        }
        if !options.minimum().is_zero() {
            self.core.require("minimum hold")?;
            check_min_hold(options.minimum(), options.max_hold)?;
        }
        Ok(())
    }
}

impl CallOptions {
    /// Returns the minimum hold.
    fn minimum(&self) -> Duration {
        self.min_hold.unwrap_or_default()
    }

    /// Returns the mode that the options ask for.
    pub(super) fn mode(&self) -> Result<Mode, LockError> {
        let problem = match (self.mode, self.permits, self.take) {
            (Some(_), Some(_), _) => "`mode` and `permits` exclude each other",
            (_, None, Some(_)) => "`take` needs `permits`",
            (None, None, None) => return Ok(Mode::Exclusive),
            (Some(Access::Write), None, None) => return Ok(Mode::Write),
            (Some(Access::Read), None, None) => return Ok(Mode::Share(Share::READ)),
            (None, Some(limit), take) => {
                return Share::permits(limit, take.unwrap_or(1))
                    .map(Mode::Share)
                    .map_err(LockError::invalid_options);
            }
        };
        Err(LockError::invalid_options(problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(
        access: Option<Access>,
        permits: Option<u32>,
        take: Option<u32>,
    ) -> Result<Mode, String> {
        let options = CallOptions {
            mode: access,
            permits,
            take,
            ..CallOptions::default()
        };
        options.mode().map_err(|error| error.to_string())
    }

    #[test]
    fn call_without_options_is_exclusive() {
        assert_eq!(mode(None, None, None), Ok(Mode::Exclusive));
        assert_eq!(mode(Some(Access::Write), None, None), Ok(Mode::Write));
        assert_eq!(
            mode(Some(Access::Read), None, None),
            Ok(Mode::Share(Share::READ))
        );
    }

    #[test]
    fn default_take_is_one_permit_and_one_is_a_valid_limit() {
        let one_of_five = Share::permits(5, 1).map(Mode::Share);
        assert_eq!(mode(None, Some(5), None), one_of_five);
        assert!(
            mode(None, Some(1), None).is_ok(),
            "a limit may come from a configuration"
        );
    }

    #[test]
    fn contradictory_options_are_refused_with_a_reason() {
        let refused = |access, permits, take, words: &str| {
            let error = mode(access, permits, take).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        let both = "`mode` and `permits` exclude each other";
        refused(Some(Access::Read), Some(5), None, both);
        refused(Some(Access::Write), Some(5), Some(1), both);
        refused(None, None, Some(2), "`take` needs `permits`");
        refused(None, Some(0), None, "`permits` must be at least 1");
        refused(None, Some(5), Some(0), "`take` must be at least 1");
        refused(
            None,
            Some(5),
            Some(6),
            "`take` is 6, but `permits` is only 5",
        );
    }
}
