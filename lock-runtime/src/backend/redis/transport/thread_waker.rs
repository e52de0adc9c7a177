//! Wakes a thread that is parked or waits for its socket.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Wake;
use std::thread::{self, Thread};

use super::wake_pipe::WakePipe;
use crate::background::sync::Mutex;

/// Wakes the thread that created it.
pub(super) struct ThreadWaker {
    state: AtomicU8,
    thread: Thread,
    /// Wakes the thread while that waits for its socket.
    wake_pipe: Mutex<Option<Arc<WakePipe>>>,
}

const RUNNING: u8 = 0;
const WOKEN: u8 = 1;
const PARKED: u8 = 2;
const IN_WAKE_PIPE: u8 = 3;

impl ThreadWaker {
    pub(super) fn new() -> Arc<ThreadWaker> {
        Arc::new(ThreadWaker {
            state: AtomicU8::new(RUNNING),
            thread: thread::current(),
            wake_pipe: Mutex::default(),
        })
    }

    /// Returns whether the thread was woken since the last call or the end of the last wait.
    pub(super) fn take_wake(&self) -> bool {
        self.state.swap(RUNNING, Ordering::AcqRel) == WOKEN
    }

    /// Parks the thread until it is woken.
    pub(super) fn park(&self) {
        if self.begin_wait(PARKED) {
            while self.state.load(Ordering::Acquire) == PARKED {
                thread::park();
            }
        }
        self.take_wake();
    }

    /// Waits until the thread is woken or the pipe's socket is readable. Returns whether the socket is readable.
    ///
    /// # Errors
    ///
    /// Like [`WakePipe::wait`].
    pub(super) fn wait_in(&self, wake_pipe: &Arc<WakePipe>) -> io::Result<bool> {
        *self.wake_pipe.lock() = Some(wake_pipe.clone());
        let waited = if self.begin_wait(IN_WAKE_PIPE) {
            wake_pipe.wait()
        } else {
            Ok(false)
        };
        self.take_wake();
        // Otherwise the pipe would keep the socket open as long as the thread lives.
        *self.wake_pipe.lock() = None;
        waited
    }

    /// Notes how the thread will wait. Returns `false` if it was already woken.
    fn begin_wait(&self, state: u8) -> bool {
        let begun =
            self.state
                .compare_exchange(RUNNING, state, Ordering::AcqRel, Ordering::Acquire);
        begun.is_ok()
    }
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<ThreadWaker>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<ThreadWaker>) {
        match self.state.swap(WOKEN, Ordering::AcqRel) {
            PARKED => self.thread.unpark(),
            IN_WAKE_PIPE => {
                if let Some(wake_pipe) = &*self.wake_pipe.lock() {
                    wake_pipe.wake();
                }
            }
            _ => {}
        }
    }
}
