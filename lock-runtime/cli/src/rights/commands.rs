//! The commands that each role may send, as words of an ACL line. The page `lock_runtime::docs::security` prints them, and
//! the users of the tests have no others.

/// Sent by a service, or by its scripts.
pub(crate) const SERVICE: &[&str] = &[
    "+ping",
    "+subscribe",
    "+evalsha",
    "+eval",
    // The scripts call these,
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
    // and these only for readers, permits and `mode = "write"`.
    "+pexpireat",
    "+zremrangebyscore",
    "+pubsub|numsub",
    // For `runs`.
    "+xadd",
];

/// Sent by a viewer.
pub(crate) const VIEWER: &[&str] = &[
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

/// Also sent by an operator, or by its scripts.
pub(crate) const OPERATOR: &[&str] = &[
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

/// Sent by a service, in Redisson's record.
pub(crate) const SERVICE_IN_REDISSON: &[&str] = &[
    "+ping",
    "+subscribe",
    "+unsubscribe",
    "+evalsha",
    "+eval",
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
    // For `runs`.
    "+xadd",
];

/// Also sent by an operator, in Redisson's record.
pub(crate) const OPERATOR_IN_REDISSON: &[&str] =
    &["+multi", "+exec", "+scan", "+hgetall", "+hget", "+xrange"];

/// Sent by a viewer, in Redisson's record.
pub(crate) const VIEWER_IN_REDISSON: &[&str] = &[
    "+ping", "+multi", "+exec", "+time", "+type", "+pttl", "+hlen", "+hgetall", "+scan", "+xrange",
];

/// Also sent by each role to the nodes of a cluster.
pub(crate) const ON_A_CLUSTER: &[&str] = &["+cluster|slots", "+asking"];

/// Also sent by a service to the nodes of a quorum.
pub(crate) const SERVICE_ON_A_QUORUM: &[&str] = &["+info", "+zrank"];

/// Also sent by viewers and operators to the nodes of a quorum.
pub(crate) const OTHERS_ON_A_QUORUM: &[&str] = &["+info"];

/// Also sent by a service whose bodies wait for replicas.
pub(crate) const SERVICE_WITH_REPLICAS: &[&str] = &["+wait"];
