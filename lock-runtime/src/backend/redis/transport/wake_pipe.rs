//! Waits for a socket, and lets other threads end the wait.

use std::io;
#[cfg(unix)]
use std::io::{Read, Write};
#[cfg(unix)]
use std::os::unix::net::UnixStream;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags};

use crate::backend::redis::socket::Socket;

/// Lets a thread wait until a socket is readable or another thread wakes it.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct WakePipe {
    socket: Socket,
    writer: UnixStream,
    reader: UnixStream,
}

#[cfg(unix)]
impl WakePipe {
    /// Creates a pipe; `None` if no file descriptor is left.
    pub(super) fn new(socket: &Socket) -> Option<WakePipe> {
        let (writer, reader) = UnixStream::pair().ok()?;
        writer.set_nonblocking(true).ok()?;
        reader.set_nonblocking(true).ok()?;
        let socket = socket.try_clone().ok()?;
        Some(WakePipe {
            socket,
            writer,
            reader,
        })
    }

    /// Ends the current wait, or the next one.
    pub(super) fn wake(&self) {
        // If the pipe is full, an earlier call already ends the wait.
        let _ = (&self.writer).write(&[0]);
    }

    /// Waits until the socket is readable, or for [`wake`](WakePipe::wake). Returns whether the socket is readable.
    ///
    /// # Errors
    ///
    /// The system does not let the thread wait for a socket, or has no memory for it.
    pub(super) fn wait(&self) -> io::Result<bool> {
        let mut awaited = [
            PollFd::new(&self.socket, PollFlags::IN),
            PollFd::new(&self.reader, PollFlags::IN),
        ];
        match rustix::event::poll(&mut awaited, None) {
            Err(rustix::io::Errno::INTR) => return Ok(false),
            polled => polled?,
        };
        let [is_readable, is_woken] = awaited.map(|awaited| !awaited.revents().is_empty());
        if is_woken {
            let _ = (&self.reader).read(&mut [0; 64]);
        }
        Ok(is_readable)
    }
}

/// On other systems threads do not read.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct WakePipe;

#[cfg(not(unix))]
impl WakePipe {
    pub(super) fn new(_socket: &Socket) -> Option<WakePipe> {
        None
    }

    pub(super) fn wake(&self) {}

    pub(super) fn wait(&self) -> io::Result<bool> {
        Ok(false)
    }
}
