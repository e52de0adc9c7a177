//! Encrypts and decrypts after the handshake, without a socket.

use std::io::{self, Read, Write};

use tokio_rustls::rustls::ClientConnection;

/// A TLS session whose handshake is over.
pub(in crate::backend::redis) struct Session(Box<ClientConnection>);

impl Session {
    pub(super) fn new(session: ClientConnection) -> Session {
        Session(Box::new(session))
    }

    /// Encrypts some of `plain`, and returns the number of bytes; zero while too many encrypted bytes are unwritten.
    pub(in crate::backend::redis) fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        self.0.writer().write(plain)
    }

    /// Returns whether encrypted bytes must be written to the socket.
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

    /// Reads from the socket once, and appends the decrypted bytes to `plain`. Zero means the end of the session.
    pub(in crate::backend::redis) fn read_from(
        &mut self,
        socket: &mut impl Read,
        plain: &mut Vec<u8>,
    ) -> io::Result<usize> {
        let count = self.0.read_tls(socket)?;
        let state = self.0.process_new_packets();
        let state = state.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let decrypted = state.plaintext_bytes_to_read() as u64;
        self.0.reader().take(decrypted).read_to_end(plain)?;
        if state.peer_has_closed() {
            return Ok(0);
        }
        Ok(count)
    }
}
