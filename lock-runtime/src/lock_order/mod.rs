//! Detects rings in the locking order of nested calls.
//!
//! A call that holds one lock and waits for another adds an *edge* from the class of the first to the class of the
//! second. If edges form a ring, calls can wait for each other, each for a lock that the next one holds: a deadlock,
//! until their waits end. The ring is found when its last edge is seen, whether or not anything was blocked.
//!
//! A call for several keys takes them one after the other, so it adds edges, too. All of these calls take them in the
//! order of their names, so none waits for another: a ring needs an edge of nested calls. If the values in the names
//! decide which of two locks comes first, there is no edge: a ring of classes would not be a ring of locks.
//!
//! Pure: `client::acquire::order` decides who asks, and what happens to a ring.

mod access;
mod bounds;
mod chain;
mod class;
mod crossing;
mod edges;
mod graph;
mod key_lists;
mod key_pairs;
mod party;
mod ring;
mod search;

pub(crate) use access::{Hold, Wait};
pub(crate) use class::{Class, Origin};
pub(crate) use crossing::{Crossing, Step};
pub(crate) use graph::{Graph, Link, Lock, News, Verdict};
pub(crate) use party::Party;
pub(crate) use ring::{Keys, Ring};
