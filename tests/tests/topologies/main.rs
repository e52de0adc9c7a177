//! Locks where one machine is not enough: clusters, primaries with replicas, and those that sentinels watch.
//!
//! | what | file |
//! |---|---|
//! | commands, queues and messages on several nodes | `cluster::nodes` |
//! | slots that move under held and queued locks | `cluster::slots` |
//! | scripts in a slot that is half moved | `cluster::half_moved` |
//! | nodes by names, addresses, or a map of them | `cluster::names` |
//! | replicas that take over | `cluster::failover` |
//! | locks that replicas must have before their callers | `replicas` |
//! | a primary that sentinels name | `sentinel::finding` |
//! | another primary while there is a connection | `sentinel::failover` |
//! | logins, permissions, TLS | `sentinel::access` |
//! | URLs that name something else | `urls` |

mod cluster;
mod replicas;
mod sentinel;
mod urls;
