//! Threads that block until they are answered, and read the answer themselves.
//!
//! A thread in [`block_on`] reads from the connection that it has last sent on, for all, while no other
//! thread does: so a command and its answer cross no threads, as with a client that blocks on its socket.
//! The first to come reads for those who come after it, as in libxcb's `_xcb_conn_wait`; but where several
//! threads send at a time the background reads for all of them, since to hand the reading on from one to
//! the next would cost what it saves.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use tokio::task::coop::unconstrained;

use super::reader::{LOOK, Reads};
use super::socket::WakePipe;
use super::transport::Transport;

thread_local! {
    /// Whether this thread is inside [`block_on`].
    static IS_BLOCKED: Cell<bool> = const { Cell::new(false) };
    /// The connection that it has last sent on there.
    static SENT_ON: RefCell<Option<Arc<Transport>>> = const { RefCell::new(None) };
    /// Kept from one call to the next.
    static SIGNAL: Cell<Option<Arc<PushEvent>>> = const { Cell::new(None) };
}

/// Waits for `future` on this thread, inside or outside a runtime, and reads what it waits for.
///
/// It is polled outside the budget of the task that this thread may be running: nothing renews a budget
/// that is used up while the thread blocks.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(unconstrained(future));
    let blocked = Blocked::begin();
    let waker = Waker::from(blocked.signal.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        blocked.wait();
    }
}

/// Notes that this thread sends on `transport`. Whether it is one that reads.
pub(super) fn sends_on(transport: &Arc<Transport>) -> bool {
    if !IS_BLOCKED.get() {
        return false;
    }
    // A thread that ends has no place to note it.
    let known = SENT_ON.try_with(|sent_on| {
        let same = |other: &Arc<Transport>| Arc::ptr_eq(other, transport);
        if !sent_on.borrow().as_ref().is_some_and(same) {
            transport.thread_comes();
            leave(sent_on.replace(Some(transport.clone())));
        }
    });
    known.is_ok()
}

fn leave(transport: Option<Arc<Transport>>) {
    if let Some(transport) = transport {
        transport.thread_goes();
    }
}

/// A thread inside [`block_on`], until this is dropped.
struct Blocked {
    signal: Arc<PushEvent>,
    /// What was so before, if this call is inside another one's.
    was_blocked: bool,
    sent_on: Option<Arc<Transport>>,
}

impl Blocked {
    fn begin() -> Blocked {
        Blocked {
            signal: (SIGNAL.try_with(Cell::take).ok().flatten()).unwrap_or_else(PushEvent::new),
            was_blocked: IS_BLOCKED.replace(true),
            sent_on: SENT_ON.try_with(RefCell::take).ok().flatten(),
        }
    }

    /// Waits until the signal was given. Returns for no reason at times.
    fn wait(&self) {
        if self.signal.was_given() {
            return;
        }
        let transport = SENT_ON.try_with(|sent_on| sent_on.borrow().clone());
        let reading = transport.ok().flatten().and_then(|transport| {
            let wake_pipe = transport.lead()?;
            Some(Leading {
                transport,
                wake_pipe,
                is_able: Cell::new(true),
            })
        });
        match reading {
            Some(leading) => self.signal.wait_or_read(&leading),
            None => self.signal.wait(),
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Ok(sent_on) = SENT_ON.try_with(|sent_on| sent_on.replace(self.sent_on.take())) {
            leave(sent_on);
        }
        IS_BLOCKED.set(self.was_blocked);
        let _ = SIGNAL.try_with(|signal| signal.set(Some(self.signal.clone())));
    }
}

/// The one thread that reads, until this is dropped.
struct Leading {
    transport: Arc<Transport>,
    wake_pipe: Arc<WakePipe>,
    /// Whether the system lets it wait for the socket.
    is_able: Cell<bool>,
}

impl Drop for Leading {
    fn drop(&mut self) {
        self.transport.stop_leading(self.is_able.get());
    }
}

/// Wakes a thread, whatever it waits in.
struct PushEvent {
    state: AtomicU8,
    thread: Thread,
    /// What to ring while the thread waits for its socket.
    wake_pipe: Mutex<Option<Arc<WakePipe>>>,
}

const NOT_GIVEN: u8 = 0;
const GIVEN: u8 = 1;
const PARKED: u8 = 2;
const READING: u8 = 3;

impl PushEvent {
    fn new() -> Arc<PushEvent> {
        Arc::new(PushEvent {
            state: AtomicU8::new(NOT_GIVEN),
            thread: thread::current(),
            wake_pipe: Mutex::default(),
        })
    }

    fn was_given(&self) -> bool {
        self.state.swap(NOT_GIVEN, Ordering::AcqRel) == GIVEN
    }

    /// Says how the thread waits from now on. `false` if the signal was given.
    fn begins(&self, how: u8) -> bool {
        let state = &self.state;
        let begun = state.compare_exchange(NOT_GIVEN, how, Ordering::AcqRel, Ordering::Acquire);
        begun.is_ok()
    }

    fn wait(&self) {
        if self.begins(PARKED) {
            while self.state.load(Ordering::Acquire) == PARKED {
                thread::park();
            }
        }
        self.was_given();
    }

    fn wait_or_read(&self, leading: &Leading) {
        *self.wake_pipe() = Some(leading.wake_pipe.clone());
        let mut has_come = false;
        if self.begins(READING) {
            let waited = leading.wake_pipe.wait_or_readable();
            leading.is_able.set(waited.is_ok());
            has_come = waited.unwrap_or(false);
        }
        // Given or not: the future is polled after this.
        self.was_given();
        // Or it would keep the socket open for as long as the thread lives.
        *self.wake_pipe() = None;
        if has_come {
            leading.transport.receive(Reads::Thread);
        }
    }

    fn wake_pipe(&self) -> MutexGuard<'_, Option<Arc<WakePipe>>> {
        self.wake_pipe
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for PushEvent {
    fn wake(self: Arc<PushEvent>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<PushEvent>) {
        match self.state.swap(GIVEN, Ordering::AcqRel) {
            PARKED => self.thread.unpark(),
            READING => {
                if let Some(wake_pipe) = &*self.wake_pipe() {
                    wake_pipe.ring();
                }
            }
            _ => {}
        }
    }
}

/// The threads that are blocked on one connection.
#[derive(Default)]
pub(super) struct Threads {
    count: usize,
    /// One of them reads.
    is_led: bool,
    /// None can.
    is_unable: bool,
    /// Several have sent at a time: until then the background reads.
    crowded_until: Option<Instant>,
    wake_pipe: Option<Arc<WakePipe>>,
}

impl Threads {
    pub(super) fn comes(&mut self) {
        self.count += 1;
    }

    /// Whether others stay behind.
    pub(super) fn goes(&mut self) -> bool {
        self.count -= 1;
        self.count > 0
    }

    /// A thread sends. Whether it reads the answer itself.
    pub(super) fn sends(&mut self, now: Instant) -> bool {
        if self.is_led {
            self.crowded_until = Some(now + LOOK);
        }
        self.crowded_until.take_if(|until| *until <= now);
        self.crowded_until.is_none() && !self.is_unable
    }

    /// A thread is to read, with this bell, unless one does or there are too many.
    pub(super) fn lead(
        &mut self,
        make: impl FnOnce() -> Option<WakePipe>,
    ) -> Option<Arc<WakePipe>> {
        if self.is_led || self.is_unable || self.crowded_until.is_some() {
            return None;
        }
        if self.wake_pipe.is_none() {
            self.wake_pipe = make().map(Arc::new);
        }
        self.is_led = self.wake_pipe.is_some();
        self.wake_pipe.clone()
    }

    pub(super) fn are_led(&self) -> bool {
        self.is_led
    }

    pub(super) fn stop_leading(&mut self, is_able: bool) {
        self.is_led = false;
        self.is_unable |= !is_able;
    }

    /// The connection has ended.
    pub(super) fn end(&mut self) {
        self.wake_pipe = None;
    }
}
