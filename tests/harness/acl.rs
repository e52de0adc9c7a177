//! Permissions on a server.

use std::env;

/// The minimal permissions of a lock client's user, as arguments of `ACL SETUSER`. The page
/// `lock_runtime::docs::security` prints them.
pub const RIGHTS: &[&str] = &[
    "~lock:*",
    "~{lock:*",
    // Without it, Redis 6.2 takes no channel, since its new users may use all of them.
    "resetchannels",
    "&lock:*",
    // The commands that the client sends (HELLO needs no right),
    "+ping",
    "+subscribe",
    "+evalsha",
    "+eval",
    // and those that the scripts call.
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
    // Only for readers, permits and `mode = "write"`.
    "+pexpireat",
    "+zremrangebyscore",
    "+pubsub|numsub",
];

/// The minimal permissions of a user who looks at locks and changes nothing. The page prints them as well.
pub const VIEWER_RIGHTS: &[&str] = &[
    "~lock:*",
    "~{lock:*",
    "resetchannels",
    "&lock:*",
    "+ping",
    "+subscribe",
    "+multi",
    "+exec",
    "+time",
    "+getrange",
    "+strlen",
    "+pttl",
    "+zcard",
    "+zrangebyscore",
    "+zmscore",
    "+scan",
    "+xrange",
];

/// What a user needs as well who takes locks from their holders.
pub const OPERATOR_RIGHTS: &[&str] = &[
    "+evalsha",
    "+eval",
    "+get",
    "+set",
    "+del",
    "+pexpire",
    "+pexpireat",
    "+publish",
    "+zadd",
    "+zrem",
    "+zscore",
    "+zrevrange",
    "+zremrangebyscore",
    "+pubsub|numsub",
    "+xadd",
];

/// What an operator needs beside the permissions of a client whose locks are in Redisson's record.
pub const REDISSON_OPERATOR_RIGHTS: &[&str] = &[
    "~{lock:*", "+multi", "+exec", "+scan", "+hgetall", "+hget", "+xadd", "+xrange",
];

/// The permissions of a user who looks at such locks and changes nothing. The page prints them as well.
pub const REDISSON_VIEWER_RIGHTS: &[&str] = &[
    "~lock:*",
    "~{lock:*",
    "resetchannels",
    "+ping",
    "+multi",
    "+exec",
    "+time",
    "+type",
    "+pttl",
    "+hlen",
    "+hgetall",
    "+scan",
    "+xrange",
];

/// What the user of a cluster's nodes needs as well.
pub const CLUSTER_RIGHTS: &[&str] = &["+cluster|slots", "+asking"];

/// What the user of a client that waits for replicas needs as well.
pub const REPLICA_RIGHTS: &[&str] = &["+wait"];

/// The same for a client whose locks are in Redisson's record. The page prints them as well.
pub const REDISSON_RIGHTS: &[&str] = &[
    "~lock:*",
    "~redisson_lock_queue:*",
    "resetchannels",
    "&redisson_lock__channel:*",
    // The commands that the client sends,
    "+ping",
    "+subscribe",
    "+unsubscribe",
    "+evalsha",
    "+eval",
    // and those that the scripts call.
    "+type",
    "+get",
    "+hset",
    "+hexists",
    "+hlen",
    "+hkeys",
    "+lindex",
    "+pttl",
    "+pexpire",
    "+time",
    "+del",
    "+publish",
];

/// The minimal permissions of a lock client's user on a Sentinel, likewise.
pub const SENTINEL_RIGHTS: &[&str] = &[
    "resetchannels",
    "&+switch-master",
    "+subscribe",
    "+sentinel|master",
    "+sentinel|get-master-addr-by-name",
];

/// Name and password of the harness, whose inspections and faults need every right.
pub(crate) const NAME: &str = "harness";
pub(crate) const PASSWORD: &str = "known-to-the-harness";

/// Both of them.
pub(crate) const HARNESS: (&str, &str) = (NAME, PASSWORD);

/// The arguments of a server that knows the harness's user. Other clients may do everything, or only
/// what [`RIGHTS`] permit if `LOCK_TEST_USER` is `least`. So any suite can run as the user with minimal
/// permissions. A Sentinel does not know these rights.
pub(crate) fn arguments(sentinel: bool, more: &[&str]) -> Vec<String> {
    let password = format!(">{PASSWORD}");
    let mut words = vec!["--user", NAME, "on", &password, "~*", "&*", "+@all"];
    if least() && !sentinel {
        words.extend(["--user", "default", "on", "nopass"]);
        words.extend(RIGHTS);
        words.extend(more);
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
