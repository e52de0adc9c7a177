//! Finds the primary through sentinels, and notices a failover.
//!
//! A [`finder`] locates the server to connect to, and a [`watch`] ends the connection when it learns of another
//! primary. In every other way the primary is like a single server.

mod finder;
mod primary;
mod sentinel_connection;
mod sentinels;
mod watch;

pub(super) use finder::Finder;
pub(super) use primary::Primary;
pub(super) use sentinels::Sentinels;
pub(super) use watch::{Watch, until_elsewhere};
