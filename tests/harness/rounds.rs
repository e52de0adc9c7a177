//! Repeated faults: rows of a table, each with many rounds.
//!
//! A **row** is one fault and its required outcome. A **round** is one occurrence of the fault. It
//! has its own key and processes, and its own server or a cluster that is whole again. The resource
//! that the lock protects is on a server that no fault reaches. When the script of the row has
//! ended, checkers that do not know the fault inspect the result:
//!
//! | checker | violation |
//! |---|---|
//! | visits that overlapped but must not, permits above the limit (class E rows only) | `double entry` |
//! | writes that a fenced resource accepted although it had accepted a later one | `stale write` |
//! | tokens in the order of their grants | `token order` |
//! | answers to `acquire` after `wait` and one attempt | `late answer` |
//! | the time to the next grant | `late grant` |
//! | keys, queues, channels, connections, and the workers' sockets and tasks | `left behind` |
//! | the row's own expectations | `unexpected` |
//!
//! A tally counts the findings of the rounds, and a report prints one line per row. For rows of
//! class F, it also has the writes that the resource refused, and how long two processes had the
//! lock.

mod arena;
mod base_line;
mod control;
mod places;
mod plan;
mod report;
mod round;
mod row;
mod sharing;
mod site;
mod tally;
mod violation;

pub use arena::Arena;
pub use control::{CONTROLS, Control, Noticed, play_controls};
pub use plan::Plan;
pub use report::Report;
pub use round::Round;
pub(crate) use round::hears_of_its_loss;
pub use row::{Class, Row};
pub use site::Site;
pub use tally::Tally;
pub use violation::{Kind as ViolationKind, Violation};
