//! Permissions on a server.

use std::env;

/// Declared once, for `lockctl acl` and its doctor, too.
#[path = "../../lock-runtime/cli/src/rights/commands.rs"]
mod commands;

/// What an operator needs beside a viewer.
pub const OPERATOR_RIGHTS: &[&str] = commands::OPERATOR;

/// What a user needs as well on the nodes of a cluster.
pub const CLUSTER_RIGHTS: &[&str] = commands::ON_A_CLUSTER;

/// What a service needs as well on the nodes of a quorum.
pub const QUORUM_RIGHTS: &[&str] = commands::SERVICE_ON_A_QUORUM;

/// The same of those who look at its locks, or revoke them.
pub const QUORUM_VIEWER_RIGHTS: &[&str] = commands::OTHERS_ON_A_QUORUM;

/// What the user of a client that waits for replicas needs as well.
pub const REPLICA_RIGHTS: &[&str] = commands::SERVICE_WITH_REPLICAS;

/// The keys and channels of locks, as arguments of `ACL SETUSER`. Without `resetchannels`, Redis 6.2 takes no channel, since
/// its new users may use all of them.
const PATTERNS: &[&str] = &["~lock:*", "~{lock:*", "resetchannels", "&lock:*"];

/// The minimal permissions of a lock client's user, likewise. The page `lock_runtime::docs::security` prints them.
pub const RIGHTS: &[&str] =
    &both::<{ PATTERNS.len() + commands::SERVICE.len() }>(PATTERNS, commands::SERVICE);

/// The minimal permissions of a user who looks at locks and changes nothing. The page prints them as well.
pub const VIEWER_RIGHTS: &[&str] =
    &both::<{ PATTERNS.len() + commands::VIEWER.len() }>(PATTERNS, commands::VIEWER);

/// The keys and channels of locks in Redisson's record.
const REDISSON_PATTERNS: &[&str] = &[
    "~lock:*",
    "~redisson_lock_queue:*",
    "resetchannels",
    "&redisson_lock__channel:*",
];

/// The minimal permissions of a client whose locks are in Redisson's record. The page prints them as well.
pub const REDISSON_RIGHTS: &[&str] = &both::<
    { REDISSON_PATTERNS.len() + commands::SERVICE_IN_REDISSON.len() },
>(REDISSON_PATTERNS, commands::SERVICE_IN_REDISSON);

/// What an operator needs beside these. The audit is beside the locks.
pub const REDISSON_OPERATOR_RIGHTS: &[&str] = &both::<{ 1 + commands::OPERATOR_IN_REDISSON.len() }>(
    &["~{lock:*"],
    commands::OPERATOR_IN_REDISSON,
);

const REDISSON_VIEWER_PATTERNS: &[&str] = &["~lock:*", "~{lock:*", "resetchannels"];

/// The permissions of a user who looks at such locks and changes nothing. The page prints them as well.
pub const REDISSON_VIEWER_RIGHTS: &[&str] =
    &both::<{ REDISSON_VIEWER_PATTERNS.len() + commands::VIEWER_IN_REDISSON.len() }>(
        REDISSON_VIEWER_PATTERNS,
        commands::VIEWER_IN_REDISSON,
    );

/// One list behind the other.
const fn both<const LENGTH: usize>(
    first: &[&'static str],
    second: &[&'static str],
) -> [&'static str; LENGTH] {
    let (mut both, mut at) = ([""; LENGTH], 0);
    while at < LENGTH {
        both[at] = if at < first.len() {
            first[at]
        } else {
            second[at - first.len()]
        };
        at += 1;
    }
    both
}

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
