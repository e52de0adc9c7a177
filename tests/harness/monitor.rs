//! A recording of the commands that a server received.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::acl;
use crate::wait::{PATIENCE, wait_until};

/// A recording of the commands that clients send, in the order in which the server ran them,
/// without the commands inside scripts.
#[derive(Debug)]
pub struct Monitor {
    lines: Arc<Mutex<Vec<String>>>,
    // The connection that sends the marks. Its own commands are not part of the recording.
    marker: TcpStream,
    marks: u64,
    listener: TcpStream,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Address of the client that sent it.
    pub client: String,
    /// Its name in upper case.
    pub name: String,
    /// The name and all arguments as the server prints them: quoted, special characters escaped.
    pub text: String,
}

impl Command {
    /// Its name and arguments as they were sent, unless they contain special characters.
    pub fn words(&self) -> Vec<&str> {
        self.text.split('"').skip(1).step_by(2).collect()
    }
}

impl Monitor {
    pub(crate) fn start(port: u16) -> Self {
        let mut listener = connect(port);
        listener
            .write_all(b"MONITOR\r\n")
            .expect("the server reads");
        let mut reader = BufReader::new(listener.try_clone().expect("a socket can be cloned"));
        for answered in ["AUTH", "MONITOR"] {
            let mut line = String::new();
            reader.read_line(&mut line).expect("the server answers");
            assert_eq!(line, "+OK\r\n", "{answered} is refused");
        }

        let lines = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&lines);
        thread::spawn(move || {
            for line in reader.lines().map_while(Result::ok) {
                into.lock().expect("no reader panics").push(line);
            }
        });
        Self {
            lines,
            marker: connect(port),
            marks: 0,
            listener,
        }
    }

    /// The commands that arrived since the last call (or the start), up to now.
    pub fn take(&mut self) -> Vec<Command> {
        // MONITOR output is delayed. A mark that is sent now comes after every command that was
        // answered before.
        self.marks += 1;
        let mark = format!("monitor-mark-{}", self.marks);
        write!(self.marker, "ECHO {mark}\r\n").expect("the server reads");
        let marker = self
            .marker
            .local_addr()
            .expect("a socket has an address")
            .to_string();
        let mut taken = Vec::new();
        wait_until("mark in the recording", PATIENCE, || {
            let mut lines = self.lines.lock().expect("the listener does not panic");
            let Some(end) = lines.iter().position(|line| line.contains(&mark)) else {
                return false;
            };
            taken = lines
                .drain(..=end)
                .filter_map(|line| parse(&line))
                .collect();
            true
        });
        taken.retain(|command| command.client != marker);
        taken
    }

    /// Waits until a command that contains `text` has arrived.
    pub fn wait_for(&mut self, text: &str) {
        wait_until("command in the recording", PATIENCE, || {
            self.take()
                .iter()
                .any(|command| command.text.contains(text))
        });
    }

    /// The names of the commands.
    pub fn names(&mut self) -> Vec<String> {
        let commands = self.take().into_iter();
        commands.map(|command| command.name).collect()
    }
}

/// A connection with all permissions; the answer to its AUTH is still unread.
fn connect(port: u16) -> TcpStream {
    let address = (Ipv4Addr::LOCALHOST, port);
    let mut socket = TcpStream::connect(address).expect("the server accepts connections");
    write!(socket, "AUTH {} {}\r\n", acl::NAME, acl::PASSWORD).expect("the server reads");
    socket
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // Ends the listening thread; if the server is gone, the thread has ended already.
        let _ = self.listener.shutdown(std::net::Shutdown::Both);
    }
}

/// `+1339518083.107412 [0 127.0.0.1:60866] "get" "x"`; inside scripts the client is `lua`.
fn parse(line: &str) -> Option<Command> {
    let (_, rest) = line.split_once(" [")?;
    let (source, text) = rest.split_once("] ")?;
    let (_, client) = source.split_once(' ')?;
    let name = text.split('"').nth(1)?.to_uppercase();
    (client != "lua").then(|| Command {
        client: client.to_owned(),
        name,
        text: text.to_owned(),
    })
}
