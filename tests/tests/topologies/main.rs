//! Locks on more than one machine: clusters, primaries with replicas, and primaries that sentinels watch.
//!
//! The fault table (`harness::rows`) has their failures, and `promise::conformance` what each promises without one. The
//! binary `load` has the shares of 64 contenders of a quorum, and thousands of renewals.
//!
//! | what | file |
//! |---|---|
//! | commands, connections and messages on several nodes | `cluster::nodes` |
//! | scripts in a slot that is half moved | `cluster::half_moved` |
//! | nodes by names, addresses, or a map of them | `cluster::names` |
//! | an address that leads to another node than before | `cluster::virtual_address` |
//! | locks that replicas must have before their callers | `replicas` |
//! | a primary that sentinels name | `sentinel::finding` |
//! | another primary while there is a connection | `sentinel::failover` |
//! | logins, permissions, TLS | `sentinel::access` |
//! | a majority of servers, some of which are silent, slow or away | `quorum::minorities` |
//! | servers that are new have no vote | `quorum::restarts` |
//! | tokens that rise whatever nodes are away, or their clocks | `quorum::tokens` |
//! | callers that have a node each | `quorum::split` |
//! | local turns and retained leases of a quorum | `quorum::callers` |
//! | what a quorum refuses, logins, TLS | `quorum::urls` |
//! | what operators see while slots move, nodes are away, another primary takes over | `cluster::operators`, `quorum::operators`, `sentinel::operators` |
//! | what each role may do with the rights that are printed for it | `cluster::rights`, `quorum::rights`, `sentinel::rights` |
//! | URLs that name something else, and credentials beside a URL | `urls` |
//! | servers that give one answer to everything, for ever | `answers` |
//! | memory clients that refuse what a cluster or a quorum refuses | `like` |

mod answers;
mod cluster;
mod like;
mod quorum;
mod replicas;
mod sentinel;
mod urls;

use harness::{RedisServer, ask};

/// The number of logins that a server has refused.
fn wrong_passwords(server: &RedisServer) -> i64 {
    let log: Vec<Vec<redis::Value>> = ask(&mut server.connection(), &["ACL", "LOG"]);
    let count = |entry: &Vec<redis::Value>| redis::from_redis_value_ref::<i64>(&entry[1]);
    let counts = log.iter().map(count);
    counts.sum::<Result<_, _>>().expect("an entry has a count")
}
