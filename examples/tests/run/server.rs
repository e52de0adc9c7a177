//! A server for a test. The workspace's harness can do more, but users who only run the quickstart
//! should not have to build its many dependencies.

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::{self, Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A `redis-server`, or the program that `LOCK_REDIS_SERVER` names. Killed on drop.
pub(crate) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// A server that keeps nothing.
    pub(crate) fn start() -> Server {
        Server::with(&["--save", "", "--appendonly", "no"])
    }

    /// A server with these options.
    pub(crate) fn with(options: &[impl AsRef<OsStr>]) -> Server {
        let port = free_port();
        let bound = ["--port".to_owned(), port.to_string()];
        let bound = bound
            .into_iter()
            .chain(["--bind", "127.0.0.1"].map(str::to_owned));
        Server::at(
            port,
            bound
                .map(OsString::from)
                .chain(options.iter().map(OsString::from)),
        )
    }

    /// A server that listens on this port by its arguments.
    pub(crate) fn at(port: u16, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Server {
        let program = std::env::var_os("LOCK_REDIS_SERVER");
        let child = Command::new(program.unwrap_or_else(|| "redis-server".into()))
            .args(arguments)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        let server = Server { child, port };
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "the server does not start"
            );
            pause();
        }
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

/// Returns a port without a listener, on itself and on its cluster bus port.
///
/// A server binds its port only later, so no other test may get it until then: a UDP socket with the same number reserves it
/// on the whole machine until this process ends. The harness of the workspace does the same with other ports.
pub(crate) fn free_port() -> u16 {
    static RESERVED: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());
    static NEXT: AtomicU32 = AtomicU32::new(0);
    const COUNT: u16 = 2_000;
    let is_free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let found = (0..COUNT).find_map(|_| {
        // Processes start at different offsets, so that they rarely try the same port at the same time.
        let next = process::id()
            .wrapping_mul(97)
            .wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port =
            10_000 + u16::try_from(next % u32::from(COUNT)).expect("it is less than the count");
        let reservation = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        (is_free(port) && is_free(port + 10_000)).then_some((port, reservation))
    });
    let (port, reservation) = found.expect("a port is free");
    RESERVED
        .lock()
        .expect("no thread panics with it")
        .push(reservation);
    port
}

#[expect(
    clippy::disallowed_methods,
    reason = "the pause between two attempts to connect, outside every runtime"
)]
pub(crate) fn pause() {
    thread::sleep(Duration::from_millis(5));
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be reaped");
    }
}
