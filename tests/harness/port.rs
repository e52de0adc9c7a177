//! Free ports.
//!
//! A server keeps its port while it is down: otherwise a reconnecting client could mistake another
//! test's server for the one that was killed. So each port is reserved on the whole machine, by a
//! UDP socket with the same number, until its server is gone for good or the process ends. The
//! ports are below the range that the system uses for connections.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ports of cluster nodes. Their bus ports are `10_000` above.
pub(crate) const OF_CLUSTERS: Range<u16> = 12_000..17_000;

/// The ports of everything else, above the bus ports.
const OF_OTHERS: Range<u16> = 27_000..32_768;

/// How many ports of servers that are gone stay reserved.
const COOLING: usize = 128;

/// The reservations of this process.
static RESERVED: Mutex<BTreeMap<u16, UdpSocket>> = Mutex::new(BTreeMap::new());

/// A loopback port that no other test has. Another program may bind it first, so the caller must be
/// ready to retry.
pub(crate) fn free() -> u16 {
    free_in(OF_OTHERS)
}

/// The same in this range.
pub(crate) fn free_in(range: Range<u16>) -> u16 {
    let mut reserved = RESERVED.lock().expect("no thread panics with it");
    let (reservation, listener) = find(range);
    let address = listener.local_addr();
    let port = address.expect("a bound socket has an address").port();
    reserved.insert(port, reservation);
    port
}

/// Frees the port of a server that is gone for good, once [`COOLING`] others are gone, too: a client
/// may still reconnect to end its owners, and would do so at another program's server.
pub(crate) fn release(port: u16) {
    static GONE: Mutex<VecDeque<UdpSocket>> = Mutex::new(VecDeque::new());
    let mut reserved = RESERVED.lock().expect("no thread panics with it");
    let mut gone = GONE.lock().expect("no thread panics with it");
    gone.extend(reserved.remove(&port));
    let free = gone.len().saturating_sub(COOLING);
    gone.drain(..free);
}

/// A listener on a loopback port that no other test has. A proxy on the port of an ended server
/// would be mistaken for that server.
pub(crate) fn listener() -> TcpListener {
    find(OF_OTHERS).1
}

fn find(range: Range<u16>) -> (UdpSocket, TcpListener) {
    // The port of a server that has just gone is the last to be tried again.
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    // Processes start at different offsets, so that they rarely try the same port at the same time.
    let own = usize::try_from(std::process::id()).expect("it is short") * 97;
    let start = own + GIVEN.fetch_add(1, Ordering::Relaxed);
    let ports = range.clone().cycle().skip(start % range.len());
    let mut found = ports.take(range.len()).filter_map(|port| {
        let address = (Ipv4Addr::LOCALHOST, port);
        let reservation = UdpSocket::bind(address).ok()?;
        Some((reservation, TcpListener::bind(address).ok()?))
    });
    found.next().expect("a port is free")
}
