//! Detects rings in the order in which nested calls take locks.
//!
//! A call that holds one lock and waits for another gives an *edge* from the class of the first to the class of the
//! second. Where edges form a ring, calls can wait for each other, each for a lock that the next one holds: a deadlock,
//! until their waits end. The ring is found when its last edge is seen, whether or not anything was blocked.
//!
//! A call for several keys takes them one after the other, so it gives edges, too. It takes them in the order of their
//! names, as all of these calls do, so none of them waits for another: a ring has an edge of nested calls. Where the values
//! in the names decide which of two locks comes first, there is no edge: a ring of classes would be none of locks.
//!
//! Pure: who asks, and what becomes of a ring, is decided in `client::acquire::order`.

mod access;
mod bounds;
mod chain;
mod class;
mod crossing;
mod edges;
mod graph;
mod key_lists;
mod key_pairs;
mod origin;
mod party;
mod ring;
mod search;
mod step;

pub(crate) use access::{Hold, Wait};
pub(crate) use class::Class;
pub(crate) use crossing::Crossing;
pub(crate) use graph::{Graph, Link, Lock, News, Verdict};
pub(crate) use origin::Origin;
pub(crate) use party::Party;
pub(crate) use ring::{Keys, Ring};
pub(crate) use step::Step;
