//! Faults, again and again: rows of a table, each of them many rounds.
//!
//! A **row** is one fault and what must come of it. A **round** is one time that it happens, on a
//! server, a key and processes of its own; the resource that the lock protects lives on a server
//! that no fault reaches. When the script of the row has ended, checkers that know nothing of the
//! fault look at what is left:
//!
//! | checker | violation |
//! |---|---|
//! | visits that overlapped (class E rows only) | `double entry` |
//! | writes that a fenced resource took although it had taken a later one | `stale write` |
//! | tokens in the order in which they were granted | `token order` |
//! | answers to `acquire` after `wait` and one attempt | `late answer` |
//! | the time to the next grant | `late grant` |
//! | keys, queues, channels, connections, and the workers' sockets and tasks | `left behind` |
//! | the row's own expectations | `unexpected` |
//!
//! What a round finds is counted in a tally, and a report prints one line a row.

mod arena;
mod base_line;
mod outcome;
mod plan;
mod report;
mod round;
mod row;
mod tally;
mod violation;

pub use arena::Arena;
pub use plan::Plan;
pub use report::Report;
pub use round::Round;
pub use row::{Class, Row};
pub use tally::Tally;
pub use violation::{Kind as ViolationKind, Violation};
