//! The parameters that every URL of servers takes: for replicas that must have a lock.

use std::borrow::Cow;
use std::time::Duration;

use crate::config::Options;
use crate::error::LockError;

const WAIT_REPLICAS: &str = "wait_replicas";
const REPLICA_TIMEOUT: &str = "replica_timeout";

/// The URL without these parameters, and the options with them.
///
/// An option that the builder and the URL give differently is refused, since neither of the two is the newer one. Errors
/// do not repeat the URL.
pub(crate) fn apply<'a>(
    url: &'a str,
    options: &Options,
) -> Result<(Cow<'a, str>, Options), LockError> {
    let mut options = options.clone();
    let (before, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let Some((servers, parameters)) = before.split_once('?') else {
        return Ok((url.into(), options));
    };
    let (mut replicas, mut timeout, mut rest) = (None, None, Vec::new());
    for parameter in parameters.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let is_twice = match name {
            WAIT_REPLICAS => replicas.replace(number(value)?).is_some(),
            REPLICA_TIMEOUT => timeout.replace(duration(value)?).is_some(),
            _ => {
                rest.push(parameter);
                false
            }
        };
        if is_twice {
            return Err(LockError::invalid_options(format!(
                "the URL has the parameter {name} twice"
            )));
        }
    }
    if replicas.is_none() && timeout.is_none() {
        return Ok((url.into(), options));
    }
    set(&mut options.wait_replicas, replicas, WAIT_REPLICAS)?;
    set(&mut options.replica_timeout, timeout, REPLICA_TIMEOUT)?;
    options.check()?;
    let mark = if rest.is_empty() { "" } else { "?" };
    let url = format!("{servers}{mark}{}{fragment}", rest.join("&"));
    Ok((url.into(), options))
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

/// A whole number of milliseconds or seconds, such as `100ms` or `60s`.
pub(super) fn duration_of(value: &str) -> Option<Duration> {
    let milliseconds = value.strip_suffix("ms").and_then(digits);
    let seconds = || value.strip_suffix('s').and_then(digits);
    milliseconds
        .map(|number| Duration::from_millis(number.into()))
        .or_else(|| seconds().map(|number| Duration::from_secs(number.into())))
}

/// A number without a sign, which `parse` would accept.
fn digits(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(url: &str) -> (String, Option<(u32, Duration)>) {
        let (rest, options) = apply(url, &Options::default()).expect(url);
        (rest.into_owned(), options.replicas())
    }

    fn refusal(url: &str, options: &Options) -> String {
        let error = apply(url, options).expect_err(url);
        format!("{error} {error:?}")
    }

    #[test]
    fn url_with_replica_parameters_sets_options_and_leaves_the_others() {
        let short = Duration::from_millis(20);
        let default = Duration::from_millis(100);
        for (url, rest, expected) in [
            ("redis://h", "redis://h", None),
            ("redis://h?x=1", "redis://h?x=1", None),
            ("redis://h?wait_replicas=0", "redis://h", None),
            ("redis://h?replica_timeout=20ms", "redis://h", None),
            (
                "redis://h/2?wait_replicas=1",
                "redis://h/2",
                Some((1, default)),
            ),
            (
                "redis-cluster://a,b?replica_timeout=20ms&wait_replicas=2",
                "redis-cluster://a,b",
                Some((2, short)),
            ),
            (
                "redis-sentinel://a?sentinel_user=u&wait_replicas=1&sentinel_password=p#m",
                "redis-sentinel://a?sentinel_user=u&sentinel_password=p#m",
                Some((1, default)),
            ),
            (
                "redis+unix:///r.sock?db=1&wait_replicas=1",
                "redis+unix:///r.sock?db=1",
                Some((1, default)),
            ),
        ] {
            assert_eq!(applied(url), (rest.to_owned(), expected), "{url}");
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
