//! Who may do what on a server.

use std::env;

/// The least that the user of a lock client must be allowed, in the words of `ACL SETUSER`; the
/// page `lock_runtime::docs::security` prints it.
pub const RIGHTS: &[&str] = &[
    "~lock:*",
    "~{lock:*",
    // Without it, Redis 6.2 takes no channel: a user may use all of them at first.
    "resetchannels",
    "&lock:*",
    // What the client sends (nobody needs a right to HELLO),
    "+ping",
    "+subscribe",
    "+evalsha",
    "+eval",
    // and what the scripts call.
    "+exists",
    "+time",
    "+get",
    "+set",
    "+setrange",
    "+del",
    "+pttl",
    "+pexpire",
    "+publish",
    "+zadd",
    "+zcard",
    "+zrem",
    "+zscore",
    "+zcount",
    "+zrangebyscore",
    "+zrevrange",
];

/// Name and password of the harness: what it looks at and breaks needs every right.
pub(crate) const NAME: &str = "harness";
pub(crate) const PASSWORD: &str = "known-to-the-harness";

/// The arguments of a server that knows the harness. Whoever connects without a name may do
/// everything, or what [`RIGHTS`] say if `LOCK_TEST_USER` is `least`: so any suite can be run as the
/// user with the least rights. A Sentinel does not know what those rights are for.
pub(crate) fn arguments(sentinel: bool) -> Vec<String> {
    let password = format!(">{PASSWORD}");
    let mut words = vec!["--user", NAME, "on", &password, "~*", "&*", "+@all"];
    if least() && !sentinel {
        words.extend(["--user", "default", "on", "nopass"]);
        words.extend(RIGHTS);
    }
    words.into_iter().map(str::to_owned).collect()
}

fn least() -> bool {
    match env::var("LOCK_TEST_USER") {
        Err(_) => false,
        Ok(user) if user == "least" => true,
        Ok(user) => panic!("LOCK_TEST_USER is `least` or not set, not `{user}`"),
    }
}
