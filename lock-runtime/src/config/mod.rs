//! The settings of a client, checked where they are given.

pub(crate) mod address_map;
#[cfg(feature = "tls")]
pub(crate) mod certificates;
pub(crate) mod credentials;
pub(crate) mod label;
mod limits;
mod lock_record;

use std::ops::RangeInclusive;
use std::time::Duration;

pub use self::limits::Topology;
pub(crate) use self::limits::{DEFAULT_RESTART_DELAY, Limits};
pub use self::lock_record::LockRecord;
use crate::config::address_map::AddressMap;
use crate::config::credentials::CredentialsSource;
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;
use crate::lease::schedule::{MAX_TTL, MIN_TTL};

/// How long a lease lasts by default.
pub(crate) const DEFAULT_TTL: Duration = Duration::from_secs(30);

/// How long an acquisition waits by default.
pub(crate) const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// How long one attempt to reach the server may take.
pub(crate) const DEFAULT_COMMAND_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the last token of a lock is remembered.
const DEFAULT_FENCE_MEMORY: Duration = Duration::from_secs(24 * 60 * 60);

/// Server clocks are set back by minutes; more than an hour is a separate fault.
const FENCE_MEMORIES: RangeInclusive<Duration> =
    Duration::from_secs(60 * 60)..=Duration::from_secs(365 * 24 * 60 * 60);

/// A replica near its primary acknowledges within a millisecond.
const DEFAULT_REPLICA_TIMEOUT: Duration = Duration::from_millis(100);

/// How many callers one grant of the server can serve: it has one token for each.
pub(crate) const TURNS: u32 = FencingToken::STEP;

/// The shortest time for which a lease is retained: the resolution of timers.
const MIN_RETAIN: Duration = Duration::from_millis(1);

/// The name of retained leases for [`LockRecord::require_native`].
pub(crate) const RETAINED: &str = "retained leases";

/// Longer waits are shortened to this, so that sums of times stay within range.
const MAX_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The settings of a client.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) prefix: String,
    pub(crate) record: LockRecord,
    pub(crate) ttl: Duration,
    pub(crate) wait: Duration,
    /// Service and host in holder labels; `None` for no label at all.
    pub(crate) label: Option<String>,
    pub(crate) command_timeout: Duration,
    pub(crate) require_tls: bool,
    #[cfg(feature = "tls")]
    pub(crate) certificates: crate::config::certificates::Certificates,
    /// The credentials that replace a password in the URL.
    pub(crate) credentials: Option<CredentialsSource>,
    pub(crate) shutdown_grace: Duration,
    /// How many callers in a row may use one grant of the server; 1 to [`TURNS`].
    pub(crate) local_turns: u32,
    /// How long a lease that no other client waits for stays after the body; zero releases it at once.
    pub(crate) retain: Duration,
    /// Whether a release waits for its answer.
    pub(crate) await_release: bool,
    /// Whether only the background thread reads from the connection.
    pub(crate) background_only: bool,
    /// How many replicas must acknowledge a lock before its caller has it, if set.
    pub(crate) wait_replicas: Option<u32>,
    /// How long they may take, if set.
    pub(crate) replica_timeout: Option<Duration>,
    pub(crate) address_map: AddressMap,
    /// How long the last token of a lock is remembered.
    pub(crate) fence_retention: Duration,
    /// Whether logs have keys.
    pub(crate) log_keys: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            prefix: "lock:".to_owned(),
            record: LockRecord::Native,
            ttl: DEFAULT_TTL,
            wait: DEFAULT_WAIT,
            label: Some(label::default_label()),
            command_timeout: DEFAULT_COMMAND_TIMEOUT,
            require_tls: false,
            #[cfg(feature = "tls")]
            certificates: Default::default(),
            credentials: None,
            shutdown_grace: DEFAULT_TTL,
            local_turns: TURNS,
            retain: Duration::ZERO,
            await_release: true,
            background_only: false,
            wait_replicas: None,
            replica_timeout: None,
            address_map: AddressMap::default(),
            fence_retention: DEFAULT_FENCE_MEMORY,
            log_keys: false,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), LockError> {
        check_ttl(self.ttl)?;
        check_retain(self.retain, self.ttl)?;
        if !self.retain.is_zero() {
            self.record.require_native(RETAINED)?;
        }
        if self.prefix.contains(['{', '}']) {
            return Err(LockError::invalid_options(
                "a prefix must not contain `{` or `}`: it would decide the slot of every key",
            ));
        }
        if self.prefix.len() > 128 {
            return Err(LockError::invalid_options(
                "a prefix must not be longer than 128 bytes",
            ));
        }
        if self.command_timeout < Duration::from_millis(10) {
            return Err(LockError::invalid_options(
                "a command_timeout must be at least 10 ms",
            ));
        }
        if !FENCE_MEMORIES.contains(&self.fence_retention) {
            return Err(LockError::invalid_options(format!(
                "a fence_retention must be between 1 h and 365 days, not {:?}",
                self.fence_retention
            )));
        }
        if self.record == LockRecord::Redisson && self.replicas().is_some() {
            return Err(LockError::invalid_options(
                "Redisson's record cannot wait for replicas",
            ));
        }
        let timeouts = Duration::from_millis(1)..=self.command_timeout / 2;
        match self.replicas() {
            Some((_, timeout)) if !timeouts.contains(&timeout) => {
                return Err(LockError::invalid_options(format!(
                    "a replica_timeout must be between 1 ms and half of the command_timeout, not {timeout:?}"
                )));
            }
            _ => {}
        }
        if !(1..=TURNS).contains(&self.local_turns) {
            return Err(LockError::invalid_options(format!(
                "local_turns must be between 1 and {TURNS}, not {}",
                self.local_turns
            )));
        }
        Ok(())
    }

    /// Refuses what servers with these limits cannot do.
    pub(crate) fn check_limits(&self, limits: Limits) -> Result<(), LockError> {
        let is_redissons = self.record == LockRecord::Redisson;
        let refusal = match limits {
            Limits::OneSlot if is_redissons => {
                "Redisson's record works on one server or with Sentinel, and not on a cluster"
            }
            Limits::Quorum { .. } if is_redissons => {
                "Redisson's record works on one server or with Sentinel, and not on a quorum"
            }
            Limits::Quorum { .. } if self.replicas().is_some() => {
                "wait_replicas is for a primary with replicas, and not for a quorum"
            }
            _ => return limits.check_ttl(self.ttl),
        };
        Err(LockError::invalid_options(refusal))
    }

    /// Returns the replicas that must acknowledge a lock before its caller has it, and how long they may take; `None`
    /// if no replica must.
    pub(crate) fn replicas(&self) -> Option<(u32, Duration)> {
        let replicas = self.wait_replicas.filter(|&replicas| replicas > 0)?;
        let timeout = self.replica_timeout.unwrap_or(DEFAULT_REPLICA_TIMEOUT);
        Some((replicas, timeout))
    }
}

/// Refuses a ttl outside 20 ms to 24 h.
pub(crate) fn check_ttl(ttl: Duration) -> Result<(), LockError> {
    if (MIN_TTL..=MAX_TTL).contains(&ttl) {
        return Ok(());
    }
    Err(LockError::invalid_options(format!(
        "a ttl must be between 20 ms and 24 h, not {ttl:?}"
    )))
}

/// Refuses a max_hold that is shorter than the shortest lease.
pub(crate) fn check_max_hold(max_hold: Duration) -> Result<(), LockError> {
    if max_hold >= MIN_TTL {
        return Ok(());
    }
    Err(LockError::invalid_options(format!(
        "a max_hold must be at least 20 ms, not {max_hold:?}"
    )))
}

/// Refuses to retain a lease for less than 1 ms, or for more than a third of its ttl: after that no caller
/// may take it over.
pub(crate) fn check_retain(retain: Duration, ttl: Duration) -> Result<(), LockError> {
    if retain.is_zero() || (MIN_RETAIN..=ttl / 3).contains(&retain) {
        return Ok(());
    }
    Err(LockError::invalid_options(format!(
        "retain must be between 1 ms and a third of the ttl, {:?}, not {retain:?}",
        ttl / 3
    )))
}

/// How many runs of a lock a call may keep.
const RUNS: RangeInclusive<u32> = 1..=1_000;

/// Refuses a number of runs outside 1 to 1 000.
pub(crate) fn check_runs(runs: u32) -> Result<(), LockError> {
    if RUNS.contains(&runs) {
        return Ok(());
    }
    Err(LockError::invalid_options(format!(
        "`runs` must be between 1 and 1000, not {runs}"
    )))
}

/// Refuses a minimum hold that is longer than a lease may last, or than `max_hold`.
pub(crate) fn check_min_hold(
    min_hold: Duration,
    max_hold: Option<Duration>,
) -> Result<(), LockError> {
    if min_hold > MAX_TTL {
        return Err(LockError::invalid_options(format!(
            "`min_hold` must be at most 24 h, not {min_hold:?}"
        )));
    }
    if max_hold.is_some_and(|max_hold| min_hold > max_hold) {
        return Err(LockError::invalid_options(
            "`min_hold` is longer than `max_hold`",
        ));
    }
    Ok(())
}

/// Caps a wait, so that it can be added to any moment.
pub(crate) fn bounded_wait(wait: Duration) -> Duration {
    wait.min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LockErrorKind;

    #[test]
    fn defaults_pass_their_own_check() {
        Options::default().check().unwrap();
    }

    #[test]
    fn settings_out_of_range_are_refused_with_a_reason() {
        let refuse = |change: fn(&mut Options), reason: &str| {
            let mut options = Options::default();
            change(&mut options);
            let error = options.check().unwrap_err();
            assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
            assert!(error.to_string().contains(reason), "{error}");
        };
        refuse(|o| o.ttl = Duration::from_millis(19), "20 ms");
        let in_redisson = |o: &mut Options| {
            o.record = LockRecord::Redisson;
            o.retain = Duration::from_secs(1);
        };
        refuse(in_redisson, "Redisson's record has no retained leases");
        refuse(|o| o.ttl = MAX_TTL + Duration::from_nanos(1), "24 h");
        refuse(|o| o.prefix = "{a}".to_owned(), "slot");
        refuse(|o| o.prefix = "x".repeat(129), "128 bytes");
        refuse(|o| o.command_timeout = Duration::from_millis(9), "10 ms");
        for timeout in [Duration::ZERO, DEFAULT_COMMAND_TIMEOUT] {
            let mut options = Options {
                replica_timeout: Some(timeout),
                ..Options::default()
            };
            options.check().expect("it is not used");
            options.wait_replicas = Some(1);
            let error = options.check().unwrap_err();
            assert!(
                error.to_string().contains("half of the command_timeout"),
                "{error}"
            );
        }
        refuse(|o| o.local_turns = 0, "between 1 and 16");
        refuse(|o| o.local_turns = 17, "between 1 and 16");
        let hour = "between 1 h and 365 days";
        refuse(|o| o.fence_retention = Duration::from_secs(3599), hour);
        refuse(|o| o.fence_retention = Duration::MAX, hour);
        refuse(|o| o.retain = Duration::from_micros(999), "1 ms");
        refuse(
            |o| o.retain = o.ttl / 3 + Duration::from_nanos(1),
            "a third",
        );
        assert!(check_max_hold(Duration::from_millis(19)).is_err());
    }

    #[test]
    fn lease_is_retained_for_a_third_of_its_ttl_at_most() {
        let ttl = Duration::from_secs(3);
        for retain in [0, 1, 1000].map(Duration::from_millis) {
            check_retain(retain, ttl).unwrap();
        }
        check_retain(Duration::from_millis(1001), ttl).unwrap_err();
    }
}
