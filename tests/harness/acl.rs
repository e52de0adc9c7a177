//! Permissions on a server.

use std::env;

/// Shared with `lockctl acl` and its doctor.
#[path = "../../lock-runtime/cli/src/rights/commands.rs"]
mod commands;

/// The additional rights of an operator, compared with a viewer.
pub const OPERATOR_RIGHTS: &[&str] = commands::OPERATOR;

/// A user's additional rights on the nodes of a cluster.
pub const CLUSTER_RIGHTS: &[&str] = commands::ON_A_CLUSTER;

/// A service's additional rights on the nodes of a quorum.
pub const QUORUM_RIGHTS: &[&str] = commands::SERVICE_ON_A_QUORUM;

/// The additional rights on a quorum for users who view or revoke locks.
pub const QUORUM_VIEWER_RIGHTS: &[&str] = commands::OTHERS_ON_A_QUORUM;

/// The additional rights of a client that waits for replicas.
pub const REPLICA_RIGHTS: &[&str] = commands::SERVICE_WITH_REPLICAS;

/// The keys and channels of locks, as arguments of `ACL SETUSER`. Redis 6.2 needs `resetchannels`,
/// since its new users may use all channels.
const PATTERNS: &[&str] = &["~lock:*", "~{lock:*", "resetchannels", "&lock:*"];

/// The minimal permissions of a lock client's user, in the same form. The page
/// `lock_runtime::docs::security` prints them.
pub const RIGHTS: &[&str] =
    &both::<{ PATTERNS.len() + commands::SERVICE.len() }>(PATTERNS, commands::SERVICE);

/// The minimal permissions of a user who views locks and changes nothing. The page prints them,
/// too.
pub const VIEWER_RIGHTS: &[&str] =
    &both::<{ PATTERNS.len() + commands::VIEWER.len() }>(PATTERNS, commands::VIEWER);

/// The keys and channels of locks in Redisson's record.
const REDISSON_PATTERNS: &[&str] = &[
    "~lock:*",
    "~redisson_lock_queue:*",
    "~{lock:*",
    "resetchannels",
    "&redisson_lock__channel:*",
];

/// The minimal permissions of a client whose locks are in Redisson's record. The page prints them,
/// too.
pub const REDISSON_RIGHTS: &[&str] = &both::<
    { REDISSON_PATTERNS.len() + commands::SERVICE_IN_REDISSON.len() },
>(REDISSON_PATTERNS, commands::SERVICE_IN_REDISSON);

/// The additional rights of an operator of such locks.
pub const REDISSON_OPERATOR_RIGHTS: &[&str] = commands::OPERATOR_IN_REDISSON;

const REDISSON_VIEWER_PATTERNS: &[&str] = &["~lock:*", "~{lock:*", "resetchannels"];

/// The permissions of a user who views such locks and changes nothing. The page prints them, too.
pub const REDISSON_VIEWER_RIGHTS: &[&str] =
    &both::<{ REDISSON_VIEWER_PATTERNS.len() + commands::VIEWER_IN_REDISSON.len() }>(
        REDISSON_VIEWER_PATTERNS,
        commands::VIEWER_IN_REDISSON,
    );

/// Concatenates two lists.
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

/// The minimal permissions of a lock client's user on a Sentinel, in the same form.
pub const SENTINEL_RIGHTS: &[&str] = &[
    "resetchannels",
    "&+switch-master",
    "+subscribe",
    "+sentinel|master",
    "+sentinel|get-master-addr-by-name",
];

/// Name and password of the harness's user. Its inspections and faults need every right.
pub(crate) const NAME: &str = "harness";
pub(crate) const PASSWORD: &str = "known-to-the-harness";

pub(crate) const HARNESS: (&str, &str) = (NAME, PASSWORD);

/// The arguments of a server that knows the harness's user. Other clients may do everything, or
/// only what [`RIGHTS`] permit if `LOCK_TEST_USER` is `least`. So any suite can run as the user
/// with minimal permissions. A Sentinel does not know these rights.
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
