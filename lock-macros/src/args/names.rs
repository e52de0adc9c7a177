//! Names of options, and what people write instead.

use crate::suggest;

/// Every option, in the order of the documentation.
const OPTIONS: &[&str] = &[
    "key",
    "ttl",
    "wait",
    "renew",
    "max_hold",
    "retain",
    "reentrant",
    "on_busy",
    "on_lost",
    "or_else",
    "guard",
    "client",
    "crate",
];

/// Names that will mean something one day.
const RESERVED: &[&str] = &["keys", "mode", "permits"];

/// Names that other lock libraries use.
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
    ("lease", "ttl"),
    ("lease_time", "ttl"),
    ("expire", "ttl"),
    ("expiry", "ttl"),
    ("expires_in", "ttl"),
    ("lock_at_most_for", "max_hold"),
    ("name", "key"),
    ("lock", "key"),
    ("resource", "key"),
    ("auto_renew", "renew"),
    ("watchdog", "renew"),
    ("skip", "on_busy"),
    ("skip_if_locked", "on_busy"),
    ("fallback", "or_else"),
    ("on_fail", "or_else"),
    ("locks", "client"),
    ("redis", "client"),
    ("url", "client"),
];

/// Ends of names that say in which unit a number is. Ours stands with the number.
const UNITS: &[&str] = &["_ms", "_millis", "_s", "_secs", "_seconds"];

/// What to say about a name that is no option.
pub(crate) fn unknown(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("`{name}` is reserved for later and cannot be used yet");
    }
    match meant(name) {
        Some(option) => format!("unknown option `{name}`; did you mean `{option}`?"),
        None => format!(
            "unknown option `{name}`; the options are `{}`",
            OPTIONS.join("`, `")
        ),
    }
}

/// Whether somebody who writes this is about to give a key: then its absence is not the mistake.
pub(crate) fn means_key(name: &str) -> bool {
    name == "keys" || meant(name) == Some("key")
}

/// The option that a name is, or was probably meant to be.
fn meant(name: &str) -> Option<&'static str> {
    let name = suggest::snake(name);
    let unit = UNITS.iter().find_map(|unit| name.strip_suffix(unit));
    let name = unit.unwrap_or(&name);
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == name);
    synonym
        .map(|(_, option)| *option)
        .or_else(|| suggest::closest(name, OPTIONS.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_elsewhere_are_translated() {
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
    fn a_name_in_another_spelling_or_with_a_unit_is_translated() {
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
        ] {
            assert_eq!(
                unknown(name),
                format!("unknown option `{name}`; did you mean `{option}`?")
            );
        }
    }

    #[test]
    fn reserved_names_say_so() {
        for name in RESERVED {
            assert_eq!(
                unknown(name),
                format!("`{name}` is reserved for later and cannot be used yet")
            );
        }
    }

    #[test]
    fn a_stranger_gets_the_list() {
        assert!(unknown("quorum").contains("the options are `key`, `ttl`"));
    }

    #[test]
    fn synonyms_lead_to_options() {
        for (name, option) in SYNONYMS {
            assert!(OPTIONS.contains(option));
            assert!(!OPTIONS.contains(name));
        }
    }
}
