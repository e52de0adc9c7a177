//! On which kind of servers locks are.

/// On which kind of servers locks are, as far as it decides which options they have, for
/// [`LockClient::memory_like`](crate::LockClient::memory_like).
///
/// [Which options work where](crate::docs::topologies#which-options-work-where) is a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topology {
    /// One server, or a primary with replicas, also behind Sentinel: all options.
    Server,
    /// A cluster: the keys of one call need one hash tag.
    Cluster,
    /// A majority of independent servers, whose restart delay is 60 s: no readers, permits, several keys and
    /// `min_hold`.
    Quorum,
}
