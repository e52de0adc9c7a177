//! The guide, one page a topic. There is nothing to call here.
//!
//! | page | for whom |
//! |---|---|
//! | [`testing`] | who tests functions that take locks, without a server |
//! | [`observability`] | who wants to see in logs, traces and dashboards what locks do |
//! | [`faults`] | who wants to know what becomes of a lock on the worst day, and which test shows it |

pub mod testing {
    #![doc = include_str!("testing.md")]
}

pub mod observability {
    #![doc = include_str!("observability.md")]
}

pub mod faults {
    #![doc = include_str!("faults.md")]
}
