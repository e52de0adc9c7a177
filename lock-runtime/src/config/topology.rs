//! The kind of servers that keep the locks.

/// Selects the kind of servers whose limits [`LockClient::memory_like`](crate::LockClient::memory_like) applies.
///
/// A table shows [which options work where](crate::docs::topologies#which-options-work-where).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Topology {
    /// One server, or a primary with replicas, with or without Sentinel: all options.
    Server,
    /// A cluster: the keys of one call must share a hash tag.
    Cluster,
    /// A majority of independent servers with a restart delay of 60 s: no readers, permits, several keys or `min_hold`.
    Quorum,
}
