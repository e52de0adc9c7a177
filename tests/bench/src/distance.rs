//! A network between clients and a server: messages arrive later, and in order.
//!
//! The test harness's proxy decides about one chunk at a time and reads nothing meanwhile, so two
//! consecutive messages arrive a delay apart. Over a real distance they travel together. One thread
//! carries all connections, so that on a machine of few cores its own work is a small part of the
//! measured cost.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::set_current_timer_slack;

/// How much later than requested the kernel may wake this thread (ns); by default 50 µs.
const SLACK: NonZeroU64 = NonZeroU64::MIN;

/// A loopback port at this distance from the server. It exists until the process ends.
#[derive(Debug)]
pub(crate) struct Distance(SocketAddr);

impl Distance {
    /// `way` is the time from client to server, and also the time back.
    pub(crate) fn start(port: u16, way: Duration) -> Distance {
        let [distance] = Distance::start_all([port], way);
        distance
    }

    /// The same for several servers.
    pub(crate) fn start_all<const N: usize>(ports: [u16; N], way: Duration) -> [Distance; N] {
        let doors = ports.map(|port| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            (listener.expect("a loopback port is free"), port)
        });
        let distances = doors.each_ref().map(|(listener, _)| {
            let address = listener.local_addr();
            Distance(address.expect("a bound socket has an address"))
        });
        thread::spawn(move || carry(&doors, way));
        distances
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.0)
    }
}

/// One direction of a connection.
struct Lane {
    from: TcpStream,
    to: TcpStream,
    /// The chunks in flight, with their arrival times. An empty chunk is the end of the connection.
    chunks: VecDeque<(Instant, Vec<u8>)>,
    is_read: bool,
}

impl Lane {
    fn new(from: &TcpStream, to: &TcpStream) -> Lane {
        to.set_nodelay(true).expect("a socket takes this option");
        let [from, to] =
            [from, to].map(|socket| socket.try_clone().expect("a socket can be cloned"));
        Lane {
            from,
            to,
            chunks: VecDeque::new(),
            is_read: true,
        }
    }

    /// Reads the available bytes. It does not block, since there are some.
    fn read(&mut self, buffer: &mut [u8], way: Duration) {
        let length = self.from.read(buffer).unwrap_or(0);
        self.is_read = length > 0;
        let chunk = (Instant::now() + way, buffer[..length].to_vec());
        self.chunks.push_back(chunk);
    }

    /// Writes the chunks that have arrived. Returns when the next one arrives.
    fn write(&mut self) -> Option<Instant> {
        loop {
            let (due, chunk) = self.chunks.front()?;
            if *due > Instant::now() {
                return Some(*due);
            }
            // The other side may be gone.
            let _ = if chunk.is_empty() {
                self.to.shutdown(Shutdown::Write)
            } else {
                self.to.write_all(chunk)
            };
            self.chunks.pop_front();
        }
    }
}

/// Carries bytes between these ports and the servers behind them.
fn carry(doors: &[(TcpListener, u16)], way: Duration) {
    set_current_timer_slack(Some(SLACK)).expect("a thread may set its own");
    let mut lanes: Vec<Lane> = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let next = lanes.iter_mut().filter_map(Lane::write).min();
        lanes.retain(|lane| lane.is_read || !lane.chunks.is_empty());
        let rest = next.map(|next| next.saturating_duration_since(Instant::now()));
        let rest = rest.map(|rest| Timespec::try_from(rest).expect("it is short"));
        let doors_open = doors
            .iter()
            .map(|(listener, _)| PollFd::new(listener, PollFlags::IN));
        let mut sockets: Vec<PollFd<'_>> = doors_open.collect();
        let open = lanes.iter().filter(|lane| lane.is_read);
        sockets.extend(open.map(|lane| PollFd::new(&lane.from, PollFlags::IN)));
        // An interruption is treated like an arrival.
        let _ = poll(&mut sockets, rest.as_ref());
        let ready: Vec<bool> = sockets.iter().map(|fd| !fd.revents().is_empty()).collect();
        let open = lanes.iter_mut().filter(|lane| lane.is_read);
        for (lane, _) in open.zip(&ready[doors.len()..]).filter(|(_, ready)| **ready) {
            lane.read(&mut buffer, way);
        }
        for ((listener, port), _) in doors.iter().zip(&ready).filter(|(_, ready)| **ready) {
            let Ok((client, _)) = listener.accept() else {
                continue;
            };
            let server = TcpStream::connect((Ipv4Addr::LOCALHOST, *port));
            let server = server.expect("the server is there");
            lanes.push(Lane::new(&client, &server));
            lanes.push(Lane::new(&server, &client));
        }
    }
}
