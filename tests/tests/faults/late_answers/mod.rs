//! Answers and commands that arrive after their caller has stopped waiting, and grants that wait
//! for their caller.
//!
//! | what is late | file |
//! |---|---|
//! | the acquire of an owner that has ended | `acquires` |
//! | the grant of a lease that is over by then | `grants` |
//! | the caller that fetches its grant | `leases` |
//! | the answer that a caller has several locks | `several` |

mod acquires;
mod grants;
mod leases;
mod several;
