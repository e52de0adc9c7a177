//! Buffers a connection's bytes in both directions: bytes to be written, and bytes to be decoded.

use std::io::{self, Read, Write};

use redis::Value;

use super::decoder;
use super::socket::Socket;
use super::tls::Session;

/// The size of one read.
const CHUNK: usize = 8_192;

/// A socket and its bytes, encrypted or not.
pub(super) struct Pipe {
    socket: Socket,
    session: Option<Session>,
    /// Bytes that were appended, and are not yet written, or not yet encrypted.
    output: Vec<u8>,
    /// How many bytes were appended, and how many of them the system may have.
    appended: u64,
    written: u64,
    /// Whether the socket had no room for the remaining output.
    is_full: bool,
    input: Vec<u8>,
    /// How many bytes of the input are decoded.
    decoded: usize,
    chunk: Box<[u8; CHUNK]>,
}

impl Pipe {
    pub(super) fn new(socket: Socket, session: Option<Session>) -> Pipe {
        Pipe {
            socket,
            session,
            output: Vec::new(),
            appended: 0,
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

    /// Calls `write` to append to the output, and returns the position of the first byte.
    pub(super) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let (start, before) = (self.appended, self.output.len());
        write(&mut self.output);
        self.appended += (self.output.len() - before) as u64;
        start
    }

    /// Returns whether the system has no byte of the output from `start` on.
    pub(super) fn is_unsent(&self, start: u64) -> bool {
        self.written <= start
    }

    /// Returns whether the remaining output waits for room in the socket.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Writes as much of the output as the socket takes.
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
            let count = nonzero(retry(|| (&self.socket).write(&self.output))?)?;
            self.written += count as u64;
            self.output.drain(..count);
        }
        Ok(())
    }

    /// When the system takes a byte, all bytes that were encrypted before count as written.
    fn write_encrypted(&mut self) -> io::Result<()> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        loop {
            while session.has_output() {
                nonzero(retry(|| session.write_to(&mut &self.socket))?)?;
                self.written = self.appended - self.output.len() as u64;
            }
            if self.output.is_empty() {
                return Ok(());
            }
            let count = nonzero(session.write(&self.output)?)?;
            self.output.drain(..count);
        }
    }

    /// Reads all bytes that have arrived.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        self.input.drain(..self.decoded);
        self.decoded = 0;
        loop {
            let read = match &mut self.session {
                None => retry(|| (&self.socket).read(&mut self.chunk[..])),
                Some(session) => retry(|| session.read_from(&mut &self.socket, &mut self.input)),
            };
            match read {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) if self.session.is_none() => {
                    self.input.extend_from_slice(&self.chunk[..count]);
                    // A short read means that the socket is empty. Bytes that arrive later make it readable again.
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

    /// Decodes the next value; `None` until all of it has arrived.
    pub(super) fn next_value(&mut self) -> io::Result<Option<Value>> {
        let rest = &self.input[self.decoded..];
        if rest.is_empty() {
            return Ok(None);
        }
        let malformed = |_| io::Error::new(io::ErrorKind::InvalidData, "its answer is not RESP3");
        let decoded = decoder::decode(rest).map_err(malformed)?;
        Ok(decoded.map(|(value, length)| {
            self.decoded += length;
            value
        }))
    }
}

/// Fails for a write of zero bytes, which would otherwise be retried for ever.
fn nonzero(count: usize) -> io::Result<usize> {
    match count {
        0 => Err(io::ErrorKind::WriteZero.into()),
        count => Ok(count),
    }
}

/// Retries a system call that was interrupted by a signal.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
