//! Free ports.

use std::net::{Ipv4Addr, TcpListener};

/// A loopback port that was free a moment ago. Somebody else may be quicker to use it, so whoever
/// binds it must be ready to ask again.
pub(crate) fn free() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
    listener
        .local_addr()
        .expect("a bound socket has an address")
        .port()
}
