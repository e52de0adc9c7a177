//! What the servers of a client answer to a question.

use crate::error::LockError;

/// A server, and what it answered to some commands.
#[derive(Debug)]
pub struct ServerAnswers {
    /// The server's address; empty if the client has only one.
    pub server: String,
    /// The answers, in the order of the commands. None of them arrived if this is an error.
    pub answers: Result<Vec<Answer>, LockError>,
}

/// An answer of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Nothing.
    Nil,
    /// A number.
    Integer(i64),
    /// A text. What is no UTF-8 is replaced.
    Text(String),
    /// Several answers, also the keys and values of a map, by turns.
    List(Vec<Answer>),
    /// The server refused the command.
    Error(String),
}
