//! The guide, one page a topic. There is nothing to call here.
//!
//! | page | for whom |
//! |---|---|
//! | [`testing`] | who tests functions that take locks, without a server |
//! | [`observability`] | who wants to see in logs, traces and dashboards what locks do |

pub mod testing {
    #![doc = include_str!("testing.md")]
}

pub mod observability {
    #![doc = include_str!("observability.md")]
}
