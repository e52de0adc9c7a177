//! The parameters for replicas that must have a lock. All URLs of a primary have them.

use std::time::Duration;

use super::parts::{Parts, digits};
use crate::config::Options;
use crate::error::LockError;

const WAIT_REPLICAS: &str = "wait_replicas";
const REPLICA_TIMEOUT: &str = "replica_timeout";

impl Parts {
    /// Combines the options with the options in the URL.
    ///
    /// Fails if the builder and the URL set an option differently, since neither takes precedence.
    pub(crate) fn apply_to(&self, options: &Options) -> Result<Options, LockError> {
        let replicas = self.parameter(WAIT_REPLICAS).map(number).transpose()?;
        let timeout = self.parameter(REPLICA_TIMEOUT).map(duration).transpose()?;
        let mut options = options.clone();
        set(&mut options.wait_replicas, replicas, WAIT_REPLICAS)?;
        set(&mut options.replica_timeout, timeout, REPLICA_TIMEOUT)?;
        options.check()?;
        Ok(options)
    }
}

fn set<T: PartialEq>(
    option: &mut Option<T>,
    value: Option<T>,
    name: &str,
) -> Result<(), LockError> {
    if option.is_some() && value.is_some() && *option != value {
        return Err(LockError::invalid_options(format!(
            "the builder and the URL differ in {name}"
        )));
    }
    if value.is_some() {
        *option = value;
    }
    Ok(())
}

fn number(value: &str) -> Result<u32, LockError> {
    digits(value).ok_or_else(|| {
        LockError::invalid_options("wait_replicas in a URL is a number, such as wait_replicas=1")
    })
}

fn duration(value: &str) -> Result<Duration, LockError> {
    duration_of(value).ok_or_else(|| {
        LockError::invalid_options(
            "replica_timeout in a URL is a whole number with ms or s, such as replica_timeout=100ms",
        )
    })
}

/// Parses a whole number of milliseconds or seconds, such as `100ms` or `60s`.
pub(super) fn duration_of(value: &str) -> Option<Duration> {
    let milliseconds = value.strip_suffix("ms").and_then(digits::<u32>);
    let seconds = || value.strip_suffix('s').and_then(digits::<u32>);
    milliseconds
        .map(|number| Duration::from_millis(number.into()))
        .or_else(|| seconds().map(|number| Duration::from_secs(number.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(url: &str, options: &Options) -> Result<Options, LockError> {
        Parts::of(url)?.apply_to(options)
    }

    fn refusal(url: &str, options: &Options) -> String {
        let error = apply(url, options).expect_err(url);
        format!("{error} {error:?}")
    }

    #[test]
    fn replica_parameters_of_a_url_set_options() {
        let short = Duration::from_millis(20);
        let default = Duration::from_millis(100);
        for (url, expected) in [
            ("redis://h", None),
            ("redis://h?wait_replicas=0", None),
            ("redis://h?replica_timeout=20ms", None),
            ("redis://h/2?wait_replicas=1", Some((1, default))),
            (
                "redis-cluster://a,b?replica_timeout=20ms&wait_replicas=2",
                Some((2, short)),
            ),
            (
                "redis-sentinel://a?sentinel_user=u&wait_replicas=1&sentinel_password=p#m",
                Some((1, default)),
            ),
            (
                "redis+unix:///r.sock?db=1&wait_replicas=1",
                Some((1, default)),
            ),
        ] {
            let options = apply(url, &Options::default()).expect(url);
            assert_eq!(options.replicas(), expected, "{url}");
        }
    }

    #[test]
    fn malformed_replica_parameter_is_refused_without_repeating_the_url() {
        for (parameters, words) in [
            ("wait_replicas=", "wait_replicas in a URL is a number"),
            ("wait_replicas=s3cret", "wait_replicas in a URL is a number"),
            ("wait_replicas=+1", "wait_replicas in a URL is a number"),
            ("replica_timeout=100", "a whole number with ms or s"),
            ("replica_timeout=s", "a whole number with ms or s"),
            ("wait_replicas=1&wait_replicas=1", "wait_replicas twice"),
            (
                "wait_replicas=1&replica_timeout=0ms",
                "between 1 ms and half",
            ),
            (
                "wait_replicas=1&replica_timeout=1s",
                "between 1 ms and half",
            ),
        ] {
            let url = format!("redis://app:s3cret@host?{parameters}");
            let text = refusal(&url, &Options::default());
            assert!(text.contains(words), "{parameters}: {text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn builder_and_url_that_differ_are_refused() {
        let options = Options {
            wait_replicas: Some(0),
            replica_timeout: Some(Duration::from_millis(100)),
            ..Options::default()
        };
        let text = refusal("redis://h?wait_replicas=1", &options);
        assert!(text.contains("differ in wait_replicas"), "{text}");
        let text = refusal("redis://h?replica_timeout=20ms", &options);
        assert!(text.contains("differ in replica_timeout"), "{text}");
        assert!(apply("redis://h?wait_replicas=0&replica_timeout=100ms", &options).is_ok());
    }
}
