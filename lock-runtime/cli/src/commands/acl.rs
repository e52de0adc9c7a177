//! `acl`: prints the rights of a role.

use std::fmt;

use serde::Serialize;

use crate::args::{Acl, Connection, Kept};
use crate::exit::{Exit, Failure};
use crate::output::{Form, print};
use crate::rights::{line, line_in_redisson};

#[derive(Debug, Serialize)]
struct Line {
    command: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command)
    }
}

/// Whether the server counts a character as white space.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r' | '\0')
}

/// Connects to no server.
pub(crate) fn acl(connection: &Connection, acl: &Acl, form: Form) -> Result<Exit, Failure> {
    connection.check()?;
    let user = acl
        .user
        .clone()
        .unwrap_or_else(|| acl.role.name().to_owned());
    let prefix = &connection.prefix;
    for (what, text) in [("the prefix", prefix), ("the name of a user", &user)] {
        if text.contains(is_space) {
            let message = format!("{what} has white space, which an ACL cannot contain: `{text}`");
            return Err(Failure::new(Exit::USAGE, message));
        }
    }
    let command = match connection.record {
        Kept::Native => line(acl.role, &connection.url, prefix, &user),
        Kept::Redisson => line_in_redisson(acl.role, prefix, &user),
    };
    print(form, &Line { command })?;
    Ok(Exit::DONE)
}
