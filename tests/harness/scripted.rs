//! A server with scripted answers.
//!
//! It answers the setup of a connection like a real server, and counts all commands. The test
//! chooses the other answers, for example those of a broken server, a proxy, or the wrong server
//! behind an address.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::port;

/// The role that a server reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    Standalone,
    Cluster,
    /// It knows where the primary is.
    Sentinel,
}

/// A server on its own loopback port. All its connections end on drop.
#[derive(Debug)]
pub struct ScriptedServer(Arc<Shared>);

/// The answer to a command, in the wire protocol.
type Script = dyn Fn(&[String]) -> String + Send + Sync;

struct Shared {
    says: Says,
    port: u16,
    script: Box<Script>,
    commands: AtomicU64,
    is_closed: AtomicBool,
    clients: Mutex<Vec<TcpStream>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl ScriptedServer {
    /// A server that answers with `script`, which is created for the server's port.
    pub fn start<S>(says: Says, script: impl FnOnce(u16) -> S) -> Self
    where
        S: Fn(&[String]) -> String + Send + Sync + 'static,
    {
        let listener = port::listener();
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let port = address.port();
        let shared = Arc::new(Shared {
            says,
            port,
            script: Box::new(script(port)),
            commands: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            clients: Mutex::default(),
        });
        let accepting = shared.clone();
        thread::spawn(move || accept(&listener, &accepting));
        Self(shared)
    }

    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// The number of commands received, including the setup of connections.
    pub fn commands(&self) -> u64 {
        self.0.commands.load(Ordering::Relaxed)
    }

    /// The number of accepted connections.
    pub fn connections(&self) -> usize {
        self.0.clients().len()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.0.is_closed.store(true, Ordering::SeqCst);
        for client in self.0.clients().drain(..) {
            // The other side may have closed it already.
            let _ = client.shutdown(Shutdown::Both);
        }
        // Wakes the accepting thread, which then sees that the server is closed.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.0.port));
    }
}

impl Shared {
    fn clients(&self) -> std::sync::MutexGuard<'_, Vec<TcpStream>> {
        self.clients.lock().expect("no thread panics with it")
    }

    fn answer(&self, words: &[String]) -> String {
        self.commands.fetch_add(1, Ordering::Relaxed);
        let name = words.first().map(|name| name.to_ascii_uppercase());
        match name.as_deref() {
            Some("HELLO") => self.hello(),
            Some("SUBSCRIBE" | "UNSUBSCRIBE") => {
                let kind = words[0].to_ascii_lowercase();
                format!(">3\r\n{}{}:1\r\n", bulk(&kind), bulk(&words[1]))
            }
            // Each server has its own run id.
            Some("INFO") => bulk(&format!("run_id:{:040}\r\n", self.port)),
            Some("SELECT") => "+OK\r\n".to_owned(),
            _ => (self.script)(words),
        }
    }

    fn hello(&self) -> String {
        let mode = match self.says {
            Says::Standalone => "standalone",
            Says::Cluster => "cluster",
            Says::Sentinel => "sentinel",
        };
        let fields = [
            ("server", "redis"),
            ("version", "7.0.15"),
            ("mode", mode),
            ("role", "master"),
        ];
        let fields = fields.map(|(name, value)| bulk(name) + &bulk(value));
        format!("%{}\r\n{}", fields.len(), fields.concat())
    }
}

/// A bulk string of the wire protocol.
pub fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming().map_while(Result::ok) {
        if shared.is_closed.load(Ordering::SeqCst) {
            return;
        }
        // Answers to a pipeline are written one by one.
        let _ = client.set_nodelay(true);
        let Ok(reader) = client.try_clone() else {
            continue;
        };
        shared.clients().extend(client.try_clone().ok());
        let shared = shared.clone();
        thread::spawn(move || serve(&shared, reader, client));
    }
}

fn serve(shared: &Shared, reader: TcpStream, mut client: TcpStream) {
    let mut reader = BufReader::new(reader);
    while let Some(words) = command(&mut reader) {
        let answer = shared.answer(&words);
        if client.write_all(answer.as_bytes()).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// The words of the next command; none at the end of the connection.
fn command(reader: &mut BufReader<TcpStream>) -> Option<Vec<String>> {
    let count = length(reader, '*')?;
    (0..count)
        .map(|_| {
            let mut word = vec![0; length(reader, '$')? + 2];
            reader.read_exact(&mut word).ok()?;
            word.truncate(word.len() - 2);
            Some(String::from_utf8_lossy(&word).into_owned())
        })
        .collect()
}

fn length(reader: &mut BufReader<TcpStream>, kind: char) -> Option<usize> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.strip_prefix(kind)?.trim_end().parse().ok()
}
