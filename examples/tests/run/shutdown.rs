//! Terminates the service of the example `shutdown` in the middle of its work.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program;
use crate::server::Server;

/// The same as in the example.
const BODY: Duration = Duration::from_secs(6);
const GRACE: Duration = Duration::from_millis(500);

struct Service {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Service {
    fn start(server: &Server, args: &[&str]) -> Service {
        let mut program = Command::new(program("shutdown"));
        program.args(args).env("LOCK_URL", server.url());
        let mut child = program
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Service { child, lines }
    }

    /// The next line. It is empty when the service has ended.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the line is text");
        line.trim_end().to_owned()
    }

    fn terminate(&self) {
        let mut kill = Command::new("kill");
        let status = kill.args(["-TERM", &self.child.id().to_string()]).status();
        assert!(status.expect("`kill` starts").success());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The service has ended on its own, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The end of a service that had a request and a task in flight.
struct Shutdown {
    since_request: Duration,
    since_signal: Duration,
    /// The lines that the service printed after the signal, in no fixed order.
    lines: Vec<String>,
    answer: String,
}

fn shut_down(args: &[&str]) -> Shutdown {
    let server = Server::start();
    let mut service = Service::start(&server, args);
    let mut begun = [service.line(), service.line()];
    begun.sort();
    let [address, importing] = begun;
    assert_eq!(importing, "importing");
    let (host, path) = address["http://".len()..].split_once('/').unwrap();

    let requested = Instant::now();
    let mut request = TcpStream::connect(host).unwrap();
    write!(request, "POST /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    assert_eq!(service.line(), "packing 42");
    assert_eq!(
        locks(&server),
        "*2",
        "the locks of the order and of the import"
    );
    let signalled = Instant::now();
    service.terminate();
    let mut lines: Vec<String> = Vec::new();
    while lines.last().is_none_or(|line| line != "down") {
        lines.push(service.line());
        assert_ne!(
            lines.last().unwrap(),
            "",
            "the service ended without `down`"
        );
    }
    assert!(service.child.wait().unwrap().success());
    let (since_request, since_signal) = (requested.elapsed(), signalled.elapsed());
    let mut answer = String::new();
    request.read_to_string(&mut answer).unwrap();
    assert_eq!(locks(&server), "*0", "a lock is not released");
    Shutdown {
        since_request,
        since_signal,
        lines,
        answer,
    }
}

/// The number of locks on the server, in RESP: `*2`.
fn locks(server: &Server) -> String {
    let url = server.url();
    let mut socket = TcpStream::connect(url.strip_prefix("redis://").unwrap()).unwrap();
    socket.write_all(b"KEYS lock:*\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

#[test]
fn shutdown_concurrent_with_the_server_takes_the_grace() {
    let shutdown = shut_down(&[]);
    let time = shutdown.since_signal;
    assert!(time >= GRACE, "{time:?}: the grace was cut short");
    // A request that was not stopped would have taken longer.
    assert!(shutdown.since_request < BODY, "{time:?}");
    assert!(
        shutdown.answer.starts_with("HTTP/1.1 503"),
        "{}",
        shutdown.answer
    );
    for stopped in ["lock `order:42` was lost", "lock `import` was lost"] {
        let mut lines = shutdown.lines.iter();
        assert!(
            lines.any(|line| line.contains(stopped)),
            "{:?}",
            shutdown.lines
        );
    }
}

#[test]
fn shutdown_after_the_server_takes_the_request_and_the_grace() {
    let shutdown = shut_down(&["drain-first"]);
    let time = shutdown.since_request;
    assert!(time >= BODY + GRACE, "{time:?}: the grace began earlier");
    assert!(
        shutdown.answer.starts_with("HTTP/1.1 200"),
        "{}",
        shutdown.answer
    );
}
