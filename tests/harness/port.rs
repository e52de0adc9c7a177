//! Free ports.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::Mutex;

/// The ports that were given out last. A server that is being started or restarted may not listen on
/// its port yet. The list is bounded, or a run of days would find no free port.
static GIVEN: Mutex<VecDeque<u16>> = Mutex::new(VecDeque::new());

const REMEMBERED: usize = 1_000;

/// As [`free`], in a range, each time another one.
pub(crate) fn free_in(range: Range<u16>) -> u16 {
    let mut given = GIVEN.lock().expect("no thread panics with it");
    // Processes begin at places of their own, so that they seldom try the same port at the same time.
    let start = usize::try_from(std::process::id()).expect("it is short") * 97;
    let ports = range.clone().cycle().skip(start % range.len());
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let mut free = ports
        .take(range.len())
        .filter(|port| !given.contains(port))
        .filter(is_free);
    let port = free.next().expect("a port is free");
    given.push_back(port);
    port
}

/// A loopback port that was free a moment ago, and that this process was not given before. Another
/// process may bind it first, so the caller must be ready to ask again.
pub(crate) fn free() -> u16 {
    let listener = listener();
    let address = listener.local_addr();
    address.expect("a bound socket has an address").port()
}

/// A listener on such a port. A proxy on the port of a server that a test has ended would be taken for that server.
pub(crate) fn listener() -> TcpListener {
    let mut given = GIVEN.lock().expect("no thread panics with it");
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
            return listener;
        }
    }
}
