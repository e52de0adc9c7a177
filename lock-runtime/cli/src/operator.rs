//! The person who uses the program.

use std::env;

/// `user@host`, as far as this machine says. It is a courtesy to others and no proof.
pub(crate) fn name() -> String {
    let user = ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|user| !user.is_empty()));
    let user = user.unwrap_or_else(|| rustix::process::getuid().as_raw().to_string());
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy().into_owned();
    format!("{user}@{host}")
}
