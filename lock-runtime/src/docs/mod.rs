//! The guide, one page a topic. There is nothing to call here.
//!
//! | page | for whom |
//! |---|---|
//! | [`observability`] | who wants to see in logs, traces and dashboards what locks do |

pub mod observability {
    #![doc = include_str!("observability.md")]
}
