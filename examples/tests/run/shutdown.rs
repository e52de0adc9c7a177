//! The service of the example `shutdown`, told to end in the midst of its work.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program;
use crate::server::Server;

/// As the example has them.
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
        let mut child = program.stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        Service { child, lines }
    }

    /// The next line; none when the service has ended.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("it is text");
        line.trim_end().to_owned()
    }

    fn terminate(&self) {
        let mut kill = Command::new("kill");
        let status = kill.args(["-TERM", &self.child.id().to_string()]).status();
        assert!(status.expect("it starts").success());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It has ended by itself, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What became of a service with a request and a task under way.
struct Leave {
    since_request: Duration,
    since_signal: Duration,
    /// What it said meanwhile, in no order.
    said: Vec<String>,
    answer: String,
}

fn leave(args: &[&str]) -> Leave {
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
    assert_eq!(locks(&server), "*2", "the order's and the import's");
    let signalled = Instant::now();
    service.terminate();
    let mut said = Vec::new();
    while said.last().is_none_or(|line| line != "down") {
        said.push(service.line());
        assert_ne!(said.last().unwrap(), "", "it ended before its time");
    }
    assert!(service.child.wait().unwrap().success());
    let (since_request, since_signal) = (requested.elapsed(), signalled.elapsed());
    let mut answer = String::new();
    request.read_to_string(&mut answer).unwrap();
    assert_eq!(locks(&server), "*0", "a lock is left");
    Leave {
        since_request,
        since_signal,
        said,
        answer,
    }
}

/// How many locks there are, as the server says it.
fn locks(server: &Server) -> String {
    let url = server.url();
    let mut socket = TcpStream::connect(url.strip_prefix("redis://").unwrap()).unwrap();
    socket.write_all(b"KEYS lock:*\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

#[test]
fn side_by_side_it_takes_the_grace() {
    let left = leave(&[]);
    let time = left.since_signal;
    assert!(time >= GRACE, "{time:?}: the grace was cut short");
    // A request that was not stopped would have taken longer.
    assert!(left.since_request < BODY, "{time:?}");
    assert!(left.answer.starts_with("HTTP/1.1 503"), "{}", left.answer);
    for stopped in ["lock `order:42` was lost", "lock `import` was lost"] {
        let mut said = left.said.iter();
        assert!(said.any(|line| line.contains(stopped)), "{:?}", left.said);
    }
}

#[test]
fn one_after_the_other_it_takes_both() {
    let left = leave(&["drain-first"]);
    let time = left.since_request;
    assert!(time >= BODY + GRACE, "{time:?}: the grace began earlier");
    assert!(left.answer.starts_with("HTTP/1.1 200"), "{}", left.answer);
}
