//! The commands that each role may send, as words of an ACL line. The page `lock_runtime::docs::security` prints them, and
//! the users of the tests have no others.

/// What a service sends, also by scripts.
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
    // and these for readers, permits and `mode = "write"` alone.
    "+pexpireat",
    "+zremrangebyscore",
    "+pubsub|numsub",
];

/// What a viewer sends.
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

/// What an operator sends beside that, also by scripts.
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

/// What a service sends in Redisson's record.
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
];

/// What an operator sends there beside a service.
pub(crate) const OPERATOR_IN_REDISSON: &[&str] = &[
    "+multi", "+exec", "+scan", "+hgetall", "+hget", "+xadd", "+xrange",
];

/// What a viewer sends there.
pub(crate) const VIEWER_IN_REDISSON: &[&str] = &[
    "+ping", "+multi", "+exec", "+time", "+type", "+pttl", "+hlen", "+hgetall", "+scan", "+xrange",
];

/// What a user needs as well on the nodes of a cluster, whatever its role.
pub(crate) const ON_A_CLUSTER: &[&str] = &["+cluster|slots", "+asking"];

/// What a service needs as well on the nodes of a quorum.
pub(crate) const SERVICE_ON_A_QUORUM: &[&str] = &["+info", "+zrank"];

/// What the others need as well there.
pub(crate) const OTHERS_ON_A_QUORUM: &[&str] = &["+info"];

/// What a service needs as well whose bodies wait for replicas.
pub(crate) const SERVICE_WITH_REPLICAS: &[&str] = &["+wait"];
