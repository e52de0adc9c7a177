//! Locks where one machine is not enough: clusters.
//!
//! | what | file |
//! |---|---|
//! | commands, queues and messages on several nodes | `cluster::nodes` |
//! | slots that move under held and queued locks | `cluster::slots` |
//! | replicas that take over | `cluster::failover` |
//! | URLs that name something else | `urls` |

mod cluster;
mod urls;
