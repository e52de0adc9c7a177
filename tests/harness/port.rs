//! Free ports.
//!
//! A server keeps its port while it is down: otherwise a reconnecting client could mistake another
//! test's server for the one that was killed. So each port is reserved on the whole machine, by a
//! UDP socket with the same number, until its server is gone for good or the process ends. The
//! ports are below the range that the system uses for connections.
//!
//! A client whose server is gone for good tries to end its owners for about another minute, which
//! must not reach another test's server either. So the programs of a user take the ports in turn.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::Mutex;
use std::{env, iter};

use rustix::process::geteuid;

/// The ports of cluster nodes. Their bus ports are `10_000` above.
pub(crate) const OF_CLUSTERS: Range<u16> = 12_000..17_000;

/// The ports of everything else, above the bus ports.
const OF_OTHERS: Range<u16> = 27_000..32_768;

/// The reservations of this process.
static RESERVED: Mutex<BTreeMap<u16, UdpSocket>> = Mutex::new(BTreeMap::new());

/// A loopback port that no other test has. Another program may bind it first, so the caller must be
/// ready to retry.
pub(crate) fn free() -> u16 {
    free_in(OF_OTHERS)
}

/// The same in this range.
pub(crate) fn free_in(range: Range<u16>) -> u16 {
    let (reservation, listener) = find(range);
    let address = listener.local_addr();
    let port = address.expect("a bound socket has an address").port();
    let mut reserved = RESERVED.lock().expect("no thread panics with it");
    reserved.insert(port, reservation);
    port
}

/// Frees the port of a server that is gone for good.
pub(crate) fn release(port: u16) {
    let mut reserved = RESERVED.lock().expect("no thread panics with it");
    reserved.remove(&port);
}

/// A listener on a loopback port that no other test has. A proxy on the port of an ended server
/// would be mistaken for that server.
pub(crate) fn listener() -> TcpListener {
    find(OF_OTHERS).1
}

fn find(range: Range<u16>) -> (UdpSocket, TcpListener) {
    let tried = || tried().expect("the temporary folder can be written");
    let ports = iter::repeat_with(|| range.start + (tried() % range.len() as u64) as u16);
    let mut found = ports.take(range.len()).filter_map(|port| {
        let address = (Ipv4Addr::LOCALHOST, port);
        let reservation = UdpSocket::bind(address).ok()?;
        Some((reservation, TcpListener::bind(address).ok()?))
    });
    found.next().expect("a port is free")
}

/// The number of ports that the programs of this user have tried, this one included: the length of
/// a file, to which each try appends a byte.
fn tried() -> io::Result<u64> {
    let user = geteuid().as_raw();
    let path = env::temp_dir().join(format!("lock-tests-ports-{user}"));
    // Opened for each try, since two threads would move the position of one file.
    let mut file = File::options().append(true).create(true).open(path)?;
    file.write_all(b".")?;
    file.stream_position()
}
