//! The threads that block on a connection. At most one of them reads.

use std::sync::Arc;
use std::time::Instant;

use super::runtime_readers::TAKEOVER_DELAY;
use super::wake_pipe::WakePipe;

/// The threads that are blocked on a connection.
#[derive(Default)]
pub(super) struct ThreadReaders {
    count: usize,
    /// Whether one of them reads.
    has_reader: bool,
    /// Whether a thread failed to wait for the socket, so that no other tries.
    is_unable: bool,
    /// Until when the background reads, because several threads have sent at the same time.
    crowded_until: Option<Instant>,
    wake_pipe: Option<Arc<WakePipe>>,
}

impl ThreadReaders {
    pub(super) fn add(&mut self) {
        self.count += 1;
    }

    /// Removes a thread. Returns whether any are left.
    pub(super) fn remove(&mut self) -> bool {
        self.count -= 1;
        self.count > 0
    }

    /// Notes that a thread sends a command. Returns whether a thread will read the answer.
    pub(super) fn note_sent(&mut self, now: Instant) -> bool {
        if self.has_reader {
            self.crowded_until = Some(now + TAKEOVER_DELAY);
        }
        self.crowded_until.take_if(|until| *until <= now);
        self.crowded_until.is_none() && !self.is_unable
    }

    /// Makes the calling thread the reader, and returns a pipe that wakes it. Returns `None` if another thread or the
    /// background must read.
    pub(super) fn start_reading(
        &mut self,
        make_pipe: impl FnOnce() -> Option<WakePipe>,
    ) -> Option<Arc<WakePipe>> {
        if self.has_reader || self.is_unable || self.crowded_until.is_some() {
            return None;
        }
        if self.wake_pipe.is_none() {
            self.wake_pipe = make_pipe().map(Arc::new);
        }
        self.has_reader = self.wake_pipe.is_some();
        self.wake_pipe.clone()
    }

    pub(super) fn has_reader(&self) -> bool {
        self.has_reader
    }

    /// Notes that the thread no longer reads, and whether it was able to wait for the socket.
    pub(super) fn stop_reading(&mut self, was_able: bool) {
        self.has_reader = false;
        self.is_unable |= !was_able;
    }

    /// Drops the pipe, which has a descriptor of the socket.
    pub(super) fn close(&mut self) {
        self.wake_pipe = None;
    }
}
