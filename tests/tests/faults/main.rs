//! Faults of a server and of the network on the way to it, as the callers of one process see them. `processes` has the
//! faults of processes.
//!
//! | fault | folder |
//! |---|---|
//! | a server or a connection fails | `one_server` |
//! | an answer or a command arrives after its caller gave up | `late_answers` |
//! | a promise that was broken once | `regression` |

mod late_answers;
mod one_server;
mod regression;
