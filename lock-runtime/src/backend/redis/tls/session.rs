//! What is encrypted and decrypted after the handshake, without a socket of its own.

use std::io::{self, Read, Write};

use tokio_rustls::rustls::ClientConnection;

/// A TLS session whose handshake is over.
pub(in crate::backend::redis) struct Session(Box<ClientConnection>);

impl Session {
    pub(super) fn new(session: ClientConnection) -> Session {
        Session(Box::new(session))
    }

    /// Encrypts some of `plain`, and returns how much of it; zero while too much is waiting.
    pub(in crate::backend::redis) fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        self.0.writer().write(plain)
    }

    /// Whether anything is to be written to the socket.
    pub(in crate::backend::redis) fn has_output(&self) -> bool {
        self.0.wants_write()
    }

    /// Writes to the socket once.
    pub(in crate::backend::redis) fn write_to(
        &mut self,
        socket: &mut impl Write,
    ) -> io::Result<usize> {
        self.0.write_tls(socket)
    }

    /// Reads from the socket once, and appends what could be decrypted to `plain`. Zero bytes are the end.
    pub(in crate::backend::redis) fn read_from(
        &mut self,
        socket: &mut impl Read,
        plain: &mut Vec<u8>,
    ) -> io::Result<usize> {
        let count = self.0.read_tls(socket)?;
        let state = self.0.process_new_packets();
        let state = state.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let waiting = state.plaintext_bytes_to_read() as u64;
        self.0.reader().take(waiting).read_to_end(plain)?;
        if state.peer_has_closed() {
            return Ok(0);
        }
        Ok(count)
    }
}
