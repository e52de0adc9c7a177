//! One fault, and its required outcome.

use std::fmt;

use super::round::Round;
use crate::server::RedisServer;

/// The guarantee of a lock under a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Exclusion must hold.
    E,
    /// No lease can hold here; the fencing token protects the resource.
    F,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name, also that of its test.
    pub name: &'static str,
    /// The guarantee that must hold.
    pub class: Class,
    /// The server of each round.
    pub server: fn() -> RedisServer,
    /// The script of a round. It panics where the row's own expectations are not met.
    pub run: fn(&mut Round<'_>),
}

impl Row {
    /// A row on a server without special settings.
    pub const fn new(name: &'static str, class: Class, run: fn(&mut Round<'_>)) -> Self {
        Self {
            name,
            class,
            server: RedisServer::start,
            run,
        }
    }

    /// The same row on a server of its own making.
    pub const fn on(self, server: fn() -> RedisServer) -> Self {
        Self { server, ..self }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::E => "E",
            Self::F => "F",
        })
    }
}
