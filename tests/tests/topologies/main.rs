//! Locks where one machine is not enough: clusters, and primaries that sentinels watch.
//!
//! | what | file |
//! |---|---|
//! | commands, queues and messages on several nodes | `cluster::nodes` |
//! | slots that move under held and queued locks | `cluster::slots` |
//! | replicas that take over | `cluster::failover` |
//! | a primary that sentinels name | `sentinel::finding` |
//! | another primary while there is a connection | `sentinel::failover` |
//! | logins, permissions, TLS | `sentinel::access` |
//! | URLs that name something else | `urls` |

mod cluster;
mod sentinel;
mod urls;
