//! The bytes of a connection, in both directions: what is not written yet, and what is not decoded yet.

use std::io::{self, Read, Write};

use redis::Value;

use super::codec;
use super::socket::Socket;
use super::tls::Session;

/// Room for one read.
const CHUNK: usize = 8_192;

/// A socket and what goes through it, encrypted or not.
pub(super) struct Pipe {
    socket: Socket,
    session: Option<Session>,
    /// What was given to be written and is not written, or not encrypted.
    output: Vec<u8>,
    /// How much was given to be written, and how much of that the system may have.
    given: u64,
    written: u64,
    /// The socket has no room at the moment.
    is_full: bool,
    input: Vec<u8>,
    /// What of the input was decoded.
    decoded: usize,
    chunk: Box<[u8; CHUNK]>,
}

impl Pipe {
    pub(super) fn new(socket: Socket, session: Option<Session>) -> Pipe {
        Pipe {
            socket,
            session,
            output: Vec::new(),
            given: 0,
            written: 0,
            is_full: false,
            input: Vec::new(),
            decoded: 0,
            chunk: Box::new([0; CHUNK]),
        }
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Has `write` append to what is to be written, and returns where that begins.
    pub(super) fn give(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let (start, before) = (self.given, self.output.len());
        write(&mut self.output);
        self.given += (self.output.len() - before) as u64;
        start
    }

    /// Whether the system has nothing of what was given at `start`.
    pub(super) fn is_unsent(&self, start: u64) -> bool {
        self.written <= start
    }

    /// Whether the rest waits for room.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Writes what there is, as far as the socket takes it.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.is_full = false;
        let written = match &mut self.session {
            None => self.write_plain(),
            Some(_) => self.write_encrypted(),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.is_full = true;
                Ok(())
            }
            written => written,
        }
    }

    fn write_plain(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            let count = some(retried(|| (&self.socket).write(&self.output))?)?;
            self.written += count as u64;
            self.output.drain(..count);
        }
        Ok(())
    }

    /// What was encrypted counts as written with the first byte that the system takes after that.
    fn write_encrypted(&mut self) -> io::Result<()> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        loop {
            while session.has_output() {
                some(retried(|| session.write_to(&mut &self.socket))?)?;
                self.written = self.given - self.output.len() as u64;
            }
            if self.output.is_empty() {
                return Ok(());
            }
            let count = some(session.write(&self.output)?)?;
            self.output.drain(..count);
        }
    }

    /// Reads all that has come.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        self.input.drain(..self.decoded);
        self.decoded = 0;
        loop {
            let read = match &mut self.session {
                None => retried(|| (&self.socket).read(&mut self.chunk[..])),
                Some(session) => retried(|| session.read_from(&mut &self.socket, &mut self.input)),
            };
            match read {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) if self.session.is_none() => {
                    self.input.extend_from_slice(&self.chunk[..count]);
                    // There is no more, or it is told of anew.
                    if count < CHUNK {
                        return Ok(());
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// The next value that has come as a whole.
    pub(super) fn next(&mut self) -> io::Result<Option<Value>> {
        let rest = &self.input[self.decoded..];
        if rest.is_empty() {
            return Ok(None);
        }
        let garbage = |_| io::Error::new(io::ErrorKind::InvalidData, "its answer is not RESP3");
        let decoded = codec::decode(rest).map_err(garbage)?;
        Ok(decoded.map(|(value, length)| {
            self.decoded += length;
            value
        }))
    }
}

/// Nothing that is taken would be taken for ever.
fn some(count: usize) -> io::Result<usize> {
    match count {
        0 => Err(io::ErrorKind::WriteZero.into()),
        count => Ok(count),
    }
}

/// A signal is no reason to stop.
fn retried(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
