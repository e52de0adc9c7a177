//! The guide, one topic per page. There is nothing to call here.
//!
//! | page | read it if |
//! |---|---|
//! | [`how_it_works`] | you want to see a call, a hand-off and a loss in a picture |
//! | [`choosing`] | you wonder which ttl, wait and other options your work needs |
//! | [`cookbook`] | you want a recipe for a job, a leader, a handler, a transaction or a queue |
//! | [`topologies`] | you choose between one server, replicas, Sentinel, a cluster and a quorum |
//! | [`urls`] | you write the URL of a client |
//! | [`quorum`] | your locks must survive the loss of a server |
//! | [`testing`] | you test functions that take locks, without a server |
//! | [`production`] | your locks are about to carry load |
//! | [`troubleshooting`] | you have an error message and want to know what it means |
//! | [`observability`] | you watch locks in logs, traces and dashboards |
//! | [`faults`] | you want to know what each fault does to a lock, and which test proves it |
//! | [`security`] | you decide what a client may do, and what may be logged |
//! | [`performance`] | you want to know what a lock costs, and how that was measured |
//! | [`limits`] | you need the limits: sizes, counts, times |
//! | [`compatibility`] | you upgrade, or share a server with other versions and programs |
//! | [`coming_from`] | you know another lock and want to know what differs |
//! | [`glossary`] | a word is unclear |
//!
//! [`distributed_lock`](crate::distributed_lock) documents the attribute, [`LockError`](crate::LockError) the errors, and the
//! [first page](crate) the contract.

pub mod cookbook {
    #![doc = include_str!("cookbook.md")]
}

pub mod topologies {
    #![doc = include_str!("topologies.md")]
}

pub mod urls {
    #![doc = include_str!("urls.md")]
}

pub mod quorum {
    #![doc = include_str!("quorum.md")]
}

pub mod testing {
    #![doc = include_str!("testing.md")]
}

pub mod observability {
    #![doc = include_str!("observability.md")]
}

pub mod faults {
    #![doc = include_str!("faults.md")]
}

pub mod security {
    #![doc = include_str!("security.md")]
}

pub mod how_it_works {
    #![doc = include_str!("how_it_works/call.md")]
    #![doc = ""]
    #![doc = include_str!("pictures/call.svg")]
    #![doc = ""]
    #![doc = include_str!("how_it_works/hand_off.md")]
    #![doc = ""]
    #![doc = include_str!("pictures/hand_off.svg")]
    #![doc = ""]
    #![doc = include_str!("how_it_works/loss.md")]
    #![doc = ""]
    #![doc = include_str!("pictures/loss.svg")]
}

pub mod choosing {
    #![doc = include_str!("choosing.md")]
}

pub mod production {
    #![doc = include_str!("production.md")]
}

pub mod troubleshooting {
    #![doc = include_str!("troubleshooting.md")]
}

pub mod limits {
    #![doc = include_str!("limits.md")]
}

pub mod compatibility {
    #![doc = include_str!("compatibility.md")]
}

pub mod performance {
    #![doc = include_str!("performance/summary.md")]
    #![doc = ""]
    #![doc = include_str!("pictures/transfers.svg")]
    #![doc = ""]
    #![doc = include_str!("performance.md")]
}

pub mod glossary {
    #![doc = include_str!("glossary.md")]
}

pub mod coming_from {
    //! How to migrate from another lock, and what differs.
    //!
    //! | from | the main difference |
    //! |---|---|
    //! | [`SET NX PX` by hand](self::set_nx_px) | leases are renewed, and waiters queue |
    //! | [`rslock`] | dropping a guard releases its lock; `Busy` is not an outage |
    //! | [Redisson](self::redisson) | an explicit ttl does not stop renewal; a lock belongs to a call tree |
    //! | [ShedLock](self::shedlock) | separate limits for a dead node and for work that hangs |

    pub mod set_nx_px {
        #![doc = include_str!("coming_from/set_nx_px.md")]
    }

    pub mod rslock {
        #![doc = include_str!("coming_from/rslock.md")]
    }

    pub mod redisson {
        #![doc = include_str!("coming_from/redisson.md")]
    }

    pub mod shedlock {
        #![doc = include_str!("coming_from/shedlock.md")]
    }
}
