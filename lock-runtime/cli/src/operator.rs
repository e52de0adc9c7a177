//! The person who uses the program.

use std::env;

use nix::unistd::{Uid, User};

use crate::args::Connection;

impl Connection {
    /// The operator: the one that was named, or `user@host` as far as this machine says. It is a courtesy to others and no proof.
    pub(crate) fn operator(&self) -> String {
        self.by.clone().unwrap_or_else(here)
    }
}

/// The beginning of a label that names the operator: with the host, which the label would have at its end otherwise.
pub(crate) fn at_host(operator: String) -> String {
    if operator.contains('@') {
        operator
    } else {
        format!("{operator}@{}", host())
    }
}

fn host() -> String {
    let host = rustix::system::uname();
    host.nodename().to_string_lossy().into_owned()
}

fn here() -> String {
    let user = ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|user| !user.is_empty()));
    format!("{}@{}", user.unwrap_or_else(of_process), host())
}

/// The user of this process, as in a container or a unit of systemd, which have no variables for it. A container may have a
/// user that has no name.
fn of_process() -> String {
    let id = Uid::current();
    let user = User::from_uid(id).ok().flatten();
    user.map_or_else(|| format!("uid {id}"), |user| user.name)
}
