//! Free ports.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

/// The ports that were given out last. Nobody may listen on one of them now, who will: a server that is
/// being started, or started anew. Not all of them, or a run of days would find none any more.
static GIVEN: Mutex<VecDeque<u16>> = Mutex::new(VecDeque::new());

const REMEMBERED: usize = 1_000;

/// A loopback port that was free a moment ago, and that this process has not been given before.
/// Another one may be quicker to use it, so whoever binds it must be ready to ask again.
pub(crate) fn free() -> u16 {
    let mut given = GIVEN.lock().expect("nobody panics with it");
    loop {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        let address = listener.local_addr();
        let port = address.expect("a bound socket has an address").port();
        if !given.contains(&port) {
            given.push_back(port);
            if given.len() > REMEMBERED {
                given.pop_front();
            }
            return port;
        }
    }
}
