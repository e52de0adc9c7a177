//! Locks where one machine is not enough: clusters, and primaries with replicas.
//!
//! | what | file |
//! |---|---|
//! | commands, queues and messages on several nodes | `cluster::nodes` |
//! | slots that move under held and queued locks | `cluster::slots` |
//! | nodes by names, addresses, or a map of them | `cluster::names` |
//! | replicas that take over | `cluster::failover` |
//! | locks that replicas must have before their callers | `replicas` |
//! | URLs that name something else | `urls` |

mod cluster;
mod replicas;
mod urls;
