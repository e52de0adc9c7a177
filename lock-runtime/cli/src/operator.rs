//! The person who uses the program.

use std::env;

use nix::unistd::{Uid, User};

use crate::args::Connection;

impl Connection {
    /// The operator: the given name, or `user@host` as far as this machine knows it. A courtesy to others, and no proof.
    pub(crate) fn operator(&self) -> String {
        self.by.clone().unwrap_or_else(here)
    }
}

/// The beginning of a label that names the operator. It includes the host, which would otherwise end the label.
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

/// The user of this process: containers and systemd units have no variables for it. A container's user may have no name.
fn of_process() -> String {
    let id = Uid::current();
    let user = User::from_uid(id).ok().flatten();
    user.map_or_else(|| format!("uid {id}"), |user| user.name)
}
