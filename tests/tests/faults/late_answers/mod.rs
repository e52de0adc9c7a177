//! Answers and commands that arrive after their caller has stopped waiting, and leases that expire
//! before their caller is polled.
//!
//! | what is late | file |
//! |---|---|
//! | the acquire of an owner that has ended | `acquires` |
//! | the grant by a command that was given up, or of a lease that is over by then | `grants` |
//! | the caller of a lease that is over, or another caller's | `leases` |
//! | the answer that a caller has several locks | `several` |

mod acquires;
mod grants;
mod leases;
mod several;
