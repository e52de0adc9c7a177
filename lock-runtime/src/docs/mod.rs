//! The guide, one page a topic. There is nothing to call here.
//!
//! | page | for whom |
//! |---|---|
//! | [`cookbook`] | who has a job, a handler, a transaction, a queue, and wants to see how it is done |
//! | [`testing`] | who tests functions that take locks, without a server |
//! | [`observability`] | who wants to see in logs, traces and dashboards what locks do |
//! | [`faults`] | who wants to know what becomes of a lock on the worst day, and which test shows it |
//! | [`security`] | who decides what a client is allowed, and what may be logged |
//! | [`coming_from`] | who knows another lock, and wants to know what differs |
//!
//! The attribute is explained at [`distributed_lock`](crate::distributed_lock), errors at
//! [`LockError`](crate::LockError), and what is promised on the [first page](crate).

pub mod cookbook {
    #![doc = include_str!("cookbook.md")]
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

pub mod coming_from {
    //! What to write in place of what you know, and what differs.
    //!
    //! | from | the greatest difference |
    //! |---|---|
    //! | [`SET NX PX` by hand](self::set_nx_px) | leases are renewed, and who waits stands in line |
    //! | [`rslock`] | a guard that is dropped is released; `Busy` is not an outage |
    //! | [Redisson](self::redisson) | an explicit ttl does not stop renewal; a lock belongs to a call tree |
    //! | [ShedLock](self::shedlock) | one expiry for a dead node, another for work that hangs |

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
