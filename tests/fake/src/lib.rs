//! A fake server for tests: the commands that the scripts call, on plain data, and the scripts themselves, in real Lua.
//!
//! [`FakeServer`] hands out connections that redis-rs treats like real ones. [`call`] runs one command on a [`State`] that the
//! caller keeps, clones and compares.
//!
//! The fake knows only the commands and options that the project sends. It refuses every other one, as a server refuses a
//! command that it does not know.

mod bytecode;
mod commands;
mod connection;
mod conversions;
pub mod coverage;
mod fake;
mod inbox;
mod interpreter;
mod pattern;
mod reply;
mod script_run;
mod server;
mod state;
mod value;

#[cfg(test)]
mod tests;

pub use connection::FakeConnection;
pub use fake::FakeServer;
pub use inbox::Inbox;
pub use reply::Reply;
pub use server::call;
pub use state::{Deletion, Entry, Message, State};
pub use value::{Bytes, Hash, List, Score, SortedSet, Stream, StreamId, Value};
