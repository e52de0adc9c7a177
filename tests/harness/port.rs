//! Free ports.
//!
//! A port stays its owner's while the server behind it is down: another test's server there would be taken for the one
//! that was killed, by clients that try to reach it again. So each port is reserved on the whole machine, by a UDP socket of
//! the same number, which ends with the process. The ports lie below those that the system gives to connections.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::Mutex;

/// The ports of cluster nodes. Those of their buses are `10_000` above.
pub(crate) const OF_CLUSTERS: Range<u16> = 12_000..17_000;

/// The ports of everything else, above those of the buses.
const OF_OTHERS: Range<u16> = 27_000..32_768;

/// The reservations of this process that were made last. Bounded, or a run of days would find no free port.
static GIVEN: Mutex<VecDeque<UdpSocket>> = Mutex::new(VecDeque::new());

const REMEMBERED: usize = 300;

/// A listener on a loopback port of this range that no other test has.
pub(crate) fn listener_in(range: Range<u16>) -> TcpListener {
    let mut given = GIVEN.lock().expect("no thread panics with it");
    // Processes begin at places of their own, so that they seldom try the same port at the same time.
    let start = usize::try_from(std::process::id()).expect("it is short") * 97;
    let ports = range.clone().cycle().skip(start % range.len());
    let found = ports.take(range.len()).find_map(|port| {
        let address = (Ipv4Addr::LOCALHOST, port);
        let reservation = UdpSocket::bind(address).ok()?;
        Some((reservation, TcpListener::bind(address).ok()?))
    });
    let (reservation, listener) = found.expect("a port is free");
    given.push_back(reservation);
    if given.len() > REMEMBERED {
        given.pop_front();
    }
    listener
}

/// A loopback port that no other test has. A program that is no test may bind it first, so the caller must be ready to ask
/// again.
pub(crate) fn free() -> u16 {
    port_of(&listener())
}

/// The same in this range.
pub(crate) fn free_in(range: Range<u16>) -> u16 {
    port_of(&listener_in(range))
}

/// A listener on such a port. A proxy on the port of a server that a test has ended would be taken for that server.
pub(crate) fn listener() -> TcpListener {
    listener_in(OF_OTHERS)
}

fn port_of(listener: &TcpListener) -> u16 {
    let address = listener.local_addr();
    address.expect("a bound socket has an address").port()
}
