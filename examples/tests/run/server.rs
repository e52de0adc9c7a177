//! A server for a test. The harness of the workspace's tests can do more, but has many dependencies,
//! which a user who only runs the quickstart should not have to build.

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;
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

    /// A server whose arguments have it listen on this port.
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

    /// Sends commands as a user, as `redis-cli` does, and returns what it prints.
    pub(crate) fn cli(&self, arguments: &[&str]) -> String {
        cli(&[&["-p", &self.port.to_string()], arguments].concat())
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

/// A port on which no program listens at the moment, nor on the one for its cluster bus. It is below those that the
/// system gives to connections.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 8_000).expect("it is small");
    let is_free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let mut ports = (0..12_000).map(|_| 10_000 + (first + NEXT.fetch_add(1, Relaxed)) % 12_000);
    let free = ports.find(|&port| is_free(port) && is_free(port + 10_000));
    free.expect("a port is free")
}

/// Runs `redis-cli`, and returns what it prints.
pub(crate) fn cli(arguments: &[impl AsRef<OsStr>]) -> String {
    let done = Command::new("redis-cli").args(arguments).output();
    let done = done.expect("redis-cli is installed with redis-server");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "no {what}");
        pause();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the pause between two attempts to connect, outside every runtime"
)]
fn pause() {
    thread::sleep(Duration::from_millis(5));
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be reaped");
    }
}
