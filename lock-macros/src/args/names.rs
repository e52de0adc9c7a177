//! Recognises names of options, and the names that users of other libraries write instead.

use super::options;
use crate::suggest;

/// Settings of the client, common to all its locks.
const CLIENT_SETTINGS: &[&str] = &["record", "prefix", "local_turns", "await_release"];

/// Names of options in other lock libraries, with the option that corresponds here.
const SYNONYMS: &[(&str, &str)] = &[
    ("timeout", "wait"),
    ("wait_time", "wait"),
    ("acquire_timeout", "wait"),
    ("blocking_timeout", "wait"),
    ("blocking", "wait"),
    ("retry", "wait"),
    ("retries", "wait"),
    ("retry_count", "wait"),
    ("tries", "wait"),
    ("shared", "mode"),
    ("read", "mode"),
    ("reader", "mode"),
    ("readers", "mode"),
    ("write", "mode"),
    ("writer", "mode"),
    ("writers", "mode"),
    ("exclusive", "mode"),
    ("rw", "mode"),
    ("limit", "permits"),
    ("concurrency", "permits"),
    ("max_concurrency", "permits"),
    ("max_concurrent", "permits"),
    ("semaphore", "permits"),
    ("weight", "take"),
    ("lease", "ttl"),
    ("lease_time", "ttl"),
    ("expire", "ttl"),
    ("expiry", "ttl"),
    ("expires_in", "ttl"),
    ("lock_at_most_for", "max_hold"),
    ("lock_at_least_for", "min_hold"),
    ("at_most_every", "min_hold"),
    ("hold_at_least", "min_hold"),
    ("history", "runs"),
    ("keep_runs", "runs"),
    ("job_history", "runs"),
    ("name", "key"),
    ("lock", "key"),
    ("resource", "key"),
    ("resources", "keys"),
    ("names", "keys"),
    ("auto_renew", "renew"),
    ("watchdog", "renew"),
    ("skip", "on_busy"),
    ("skip_if_locked", "on_busy"),
    ("fallback", "or_else"),
    ("on_fail", "or_else"),
    ("fencing_token", "token"),
    ("fence", "token"),
    ("fenced", "token"),
    ("locks", "client"),
    ("redis", "client"),
    ("url", "client"),
];

/// Suffixes that give a number's unit. Here the value contains its unit: `ttl = "10s"`.
const UNITS: &[&str] = &["_ms", "_millis", "_s", "_secs", "_seconds"];

/// The message about an unknown option.
pub(crate) fn unknown(name: &str) -> String {
    if CLIENT_SETTINGS.contains(&name) {
        return format!("`{name}` is a setting of the client");
    }
    match meant(name) {
        Some(option) => format!("unknown option `{name}`; did you mean `{option}`?"),
        None => format!(
            "unknown option `{name}`; the options are `{}`",
            options::names().collect::<Vec<_>>().join("`, `")
        ),
    }
}

/// Returns whether an option of this name was meant to give a key, or keys. If so, a missing key is not reported as well.
pub(crate) fn means_key(name: &str) -> bool {
    matches!(meant(name), Some("key" | "keys"))
}

/// The option with this name, or the option that was probably meant.
fn meant(name: &str) -> Option<&'static str> {
    let name = suggest::snake(name);
    let unit = UNITS.iter().find_map(|unit| name.strip_suffix(unit));
    let name = unit.unwrap_or(&name);
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == name);
    synonym
        .map(|(_, option)| *option)
        .or_else(|| suggest::closest(name, options::names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_or_foreign_name_suggests_an_option() {
        assert_eq!(
            unknown("tttl"),
            "unknown option `tttl`; did you mean `ttl`?"
        );
        assert_eq!(
            unknown("timeout"),
            "unknown option `timeout`; did you mean `wait`?"
        );
        assert_eq!(
            unknown("lease"),
            "unknown option `lease`; did you mean `ttl`?"
        );
        assert_eq!(
            unknown("maxhold"),
            "unknown option `maxhold`; did you mean `max_hold`?"
        );
    }

    #[test]
    fn name_in_camel_case_or_with_unit_suggests_an_option() {
        for (name, option) in [
            ("leaseTime", "ttl"),
            ("waitTime", "wait"),
            ("lockAtMostFor", "max_hold"),
            ("acquireTimeout", "wait"),
            ("expires_in", "ttl"),
            ("ttl_ms", "ttl"),
            ("ttlSeconds", "ttl"),
            ("timeout_ms", "wait"),
            ("retry", "wait"),
            ("retry_count", "wait"),
            ("tries", "wait"),
            ("blocking", "wait"),
            ("skip", "on_busy"),
            ("skip_if_locked", "on_busy"),
            ("on_fail", "or_else"),
            ("url", "client"),
            ("shared", "mode"),
            ("readers", "mode"),
            ("write", "mode"),
            ("rw", "mode"),
            ("permit", "permits"),
            ("limit", "permits"),
            ("concurrency", "permits"),
            ("maxConcurrent", "permits"),
            ("semaphore", "permits"),
            ("weight", "take"),
            ("resource", "key"),
            ("resources", "keys"),
            ("names", "keys"),
        ] {
            assert_eq!(
                unknown(name),
                format!("unknown option `{name}`; did you mean `{option}`?")
            );
        }
    }

    #[test]
    fn setting_of_the_client_is_recognised() {
        for name in CLIENT_SETTINGS {
            assert_eq!(
                unknown(name),
                format!("`{name}` is a setting of the client")
            );
        }
    }

    #[test]
    fn unrelated_name_lists_all_options() {
        assert!(unknown("quorum").contains("the options are `key`, `keys`, `ttl`"));
    }

    #[test]
    fn synonym_names_an_existing_option() {
        for (name, option) in SYNONYMS {
            assert!(options::names().any(|name| name == *option));
            assert!(options::names().all(|option| option != *name));
        }
    }
}
