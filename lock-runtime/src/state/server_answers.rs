//! The answers of a client's servers to commands.

use crate::error::LockError;

/// A server, and its answers to some commands.
#[derive(Debug)]
pub struct ServerAnswers {
    /// The server's address; empty if the client has only one.
    pub server: String,
    /// The answers, in the order of the commands, or an error if none arrived.
    pub answers: Result<Vec<Answer>, LockError>,
}

/// An answer of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Nothing.
    Nil,
    /// A number.
    Integer(i64),
    /// A text, with invalid UTF-8 replaced.
    Text(String),
    /// Several answers, or the alternating keys and values of a map.
    List(Vec<Answer>),
    /// The server refused the command.
    Error(String),
}
