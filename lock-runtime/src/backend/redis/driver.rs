//! What moves the bytes of a connection, and where it is polled.
//!
//! The client library's driver is an ordinary future: only its socket belongs to a runtime. It is
//! polled by a task of the keeper's while it is at home, and by a task on the client's runtime while
//! it is away, where a command then goes out and is answered without crossing threads. There is one
//! driver and one stream of bytes, so the order of commands is the same wherever it is.
//!
//! Whoever polls takes it out of its berth for that time, and no mutex is held: a poll runs wakers and
//! listeners of all kinds, and they may send, call home, or tear the connection down. What happens to
//! it meanwhile is seen when it is put back.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::time::timeout;

use super::homes::{Here, Homes, Need};
use super::roaming::Place;
use super::watch::{Glance, REST, Verdict, judge};
use crate::backend::wire::Fault;

/// How often a connection has left the keeper, in this process: for tests.
static DEPARTURES: AtomicU64 = AtomicU64::new(0);

/// How often a connection has left the keeper for its client's runtime: for tests.
#[doc(hidden)]
pub fn departures() -> u64 {
    DEPARTURES.load(Ordering::Relaxed)
}

/// What the client library makes, and what is to be done when it ends.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The driver of one connection.
pub(super) struct Driver {
    homes: Arc<Homes>,
    place: Place,
    look: Duration,
    berth: Mutex<Berth>,
    /// What the berth says, for those who only pass by.
    is_away: AtomicBool,
    sent: AtomicU64,
    under_way: AtomicUsize,
    polls: AtomicU64,
}

struct Berth {
    /// `None` while it is polled, and when it is gone.
    work: Option<Work>,
    /// It has ended, or was ended.
    gone: bool,
    moves: u64,
    /// The move that brought it to the client's runtime, if it is there.
    away: Option<u64>,
    /// It does not leave before this time.
    rests_until: Option<Instant>,
    /// The task of its last stay was not polled yet. It does not leave again before that: a runtime
    /// that polls nobody would only collect such tasks.
    is_unmet: bool,
    /// The tasks that poll it.
    keeper: Option<Waker>,
    guest: Option<Waker>,
}

/// Why a task does not poll a driver any longer.
#[derive(PartialEq, Eq)]
enum Over {
    /// It is somewhere else.
    Left,
    /// It is gone.
    Gone,
}

impl Driver {
    /// Has the keeper do `work`, whose socket is registered there and goes by `place`. While it is away
    /// the keeper looks after it every `look`.
    pub(super) fn start(
        work: impl Future<Output = ()> + Send + 'static,
        place: Place,
        homes: Arc<Homes>,
        look: Duration,
    ) -> Result<Arc<Driver>, Fault> {
        let driver = Arc::new(Driver {
            homes,
            place,
            look,
            berth: Mutex::new(Berth {
                work: Some(Box::pin(work)),
                gone: false,
                moves: 0,
                away: None,
                rests_until: None,
                is_unmet: false,
                keeper: None,
                guest: None,
            }),
            is_away: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            under_way: AtomicUsize::new(0),
            polls: AtomicU64::new(0),
        });
        let residing = driver.clone().reside();
        match driver.homes.keeper.spawn(residing) {
            Some(_) => Ok(driver),
            None => Err(Fault::unavailable("this process was forked")),
        }
    }

    /// A command is about to be sent by whoever calls this, and waited for as long as what is returned
    /// lives. It has the driver where that is served best: at home for the keeper's own, which must not
    /// depend on another runtime, and on the client's runtime for what comes from there.
    pub(super) fn attend(self: &Arc<Driver>) -> Attendance<'_> {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        let need = match self.homes.here() {
            Here::Keeper => {
                let need = self.homes.need();
                self.call_home();
                Some(need)
            }
            Here::Guest(runtime) => {
                self.visit(runtime);
                None
            }
            Here::Elsewhere => None,
        };
        Attendance {
            driver: self,
            written: self.place.written(),
            _need: need,
        }
    }

    /// Brings it back to the keeper.
    pub(super) fn call_home(&self) {
        self.come_home(|_| true, None);
    }

    /// Ends it: the socket is closed now, or as soon as a poll is over that is under way. In a forked
    /// child nothing is done: the socket is the parent's, and so is the reactor that it would be
    /// taken from.
    pub(super) fn abort(&self) {
        if self.homes.keeper.check_process().is_err() {
            return;
        }
        let mut berth = self.berth();
        berth.gone = true;
        let work = berth.work.take();
        let wakers = berth.wakers();
        drop(berth);
        drop(work);
        wake(wakers);
    }

    /// Moves it to the client's runtime, in which this is called, unless it is needed on the keeper.
    fn visit(self: &Arc<Driver>, runtime: &Handle) {
        if self.is_away.load(Ordering::Relaxed) {
            return;
        }
        let mut berth = self.berth();
        let rests = |until| Instant::now() < until;
        // A need that is not seen here sees that it is away.
        if berth.gone
            || berth.away.is_some()
            || berth.is_unmet
            || berth.rests_until.is_some_and(rests)
            || self.homes.is_needed()
        {
            return;
        }
        let stay = berth.depart();
        self.is_away.store(true, Ordering::Relaxed);
        let wakers = berth.wakers();
        drop(berth);
        DEPARTURES.fetch_add(1, Ordering::Relaxed);
        runtime.spawn(Stay {
            driver: self.clone(),
            stay,
            is_met: false,
        });
        // The keeper begins to look after it.
        wake(wakers);
    }

    /// Brings it home from a stay that `which` is true for.
    fn come_home(&self, which: impl FnOnce(u64) -> bool, rest: Option<Duration>) {
        let mut berth = self.berth();
        if berth.gone || !berth.away.is_some_and(which) {
            return;
        }
        berth.arrive();
        berth.rests_until = rest.map(|rest| Instant::now() + rest);
        self.is_away.store(false, Ordering::Relaxed);
        let wakers = berth.wakers();
        drop(berth);
        wake(wakers);
    }

    /// The keeper's part: drives it while it is at home, and looks after it while it is away.
    async fn reside(self: Arc<Driver>) {
        while poll_fn(|cx| self.poll_at(None, cx)).await == Over::Left {
            self.watch().await;
        }
    }

    async fn watch(&self) {
        let (mut last, mut woken) = (self.glance(), false);
        while timeout(self.look, poll_fn(|cx| self.poll_home(cx)))
            .await
            .is_err()
        {
            let now = self.glance();
            let verdict = judge(last, now, woken);
            (last, woken) = (now, verdict == Verdict::Asleep);
            match verdict {
                Verdict::Well => {}
                Verdict::Asleep => self.wake_guest(),
                Verdict::Idle => self.call_home(),
                Verdict::Blocked => self.come_home(|_| true, Some(REST)),
            }
        }
    }

    fn glance(&self) -> Glance {
        Glance {
            sent: self.sent.load(Ordering::Relaxed),
            under_way: self.under_way.load(Ordering::Relaxed),
            polls: self.polls.load(Ordering::Relaxed),
        }
    }

    /// Completes when it is not away any more.
    fn poll_home(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut berth = self.berth();
        if berth.gone || berth.away.is_none() {
            return Poll::Ready(());
        }
        berth.expect(None, cx);
        Poll::Pending
    }

    fn wake_guest(&self) {
        let guest = self.berth().guest.clone();
        wake([None, guest]);
    }

    /// Polls it in the task of the stay `at`, or in the keeper's.
    fn poll_at(&self, at: Option<u64>, cx: &mut Context<'_>) -> Poll<Over> {
        let mut berth = self.berth();
        if berth.gone {
            return Poll::Ready(Over::Gone);
        }
        if berth.away != at {
            return Poll::Ready(Over::Left);
        }
        berth.expect(at, cx);
        let Some(mut work) = berth.work.take() else {
            // It is being polled where it was before, and is put back with a call.
            return Poll::Pending;
        };
        self.place.set(berth.moves);
        drop(berth);
        self.polls.fetch_add(1, Ordering::Relaxed);
        let panicking = GoneWhenDropped(self);
        let polled = work.as_mut().poll(cx);
        mem::forget(panicking);

        let mut berth = self.berth();
        berth.gone |= polled.is_ready();
        if berth.gone {
            let wakers = berth.wakers();
            drop(berth);
            drop(work);
            wake(wakers);
            return Poll::Ready(Over::Gone);
        }
        berth.work = Some(work);
        if berth.away == at {
            return Poll::Pending;
        }
        let wakers = berth.wakers();
        drop(berth);
        wake(wakers);
        Poll::Ready(Over::Left)
    }

    fn berth(&self) -> MutexGuard<'_, Berth> {
        self.berth.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Berth {
    fn depart(&mut self) -> u64 {
        self.moves += 1;
        self.is_unmet = true;
        self.away = Some(self.moves);
        self.moves
    }

    fn arrive(&mut self) {
        self.moves += 1;
        self.away = None;
    }

    /// Has the task of the stay `at`, or the keeper's, called when something changes.
    fn expect(&mut self, at: Option<u64>, cx: &mut Context<'_>) {
        let waker = match at {
            Some(_) => &mut self.guest,
            None => &mut self.keeper,
        };
        match waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
    }

    /// Those to be called, once the mutex is free.
    fn wakers(&mut self) -> [Option<Waker>; 2] {
        [self.keeper.take(), self.guest.take()]
    }
}

fn wake(wakers: [Option<Waker>; 2]) {
    wakers.into_iter().flatten().for_each(Waker::wake);
}

/// What remains of a driver whose poll panics: nothing.
struct GoneWhenDropped<'a>(&'a Driver);

impl Drop for GoneWhenDropped<'_> {
    fn drop(&mut self) {
        let mut berth = self.0.berth();
        berth.gone = true;
        let wakers = berth.wakers();
        drop(berth);
        wake(wakers);
    }
}

/// The task on the client's runtime. If it ends with that runtime, the driver comes home.
struct Stay {
    driver: Arc<Driver>,
    stay: u64,
    /// It was polled.
    is_met: bool,
}

impl Stay {
    fn meet(&mut self) {
        if !mem::replace(&mut self.is_met, true) {
            self.driver.berth().is_unmet = false;
        }
    }

    /// A child that goes on with its parent's runtime must not read its parent's answers, nor write
    /// anything: it has the same socket.
    fn is_ours(&self) -> bool {
        self.driver.homes.keeper.check_process().is_ok()
    }
}

impl Future for Stay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if !self.is_ours() {
            return Poll::Pending;
        }
        self.meet();
        self.driver.poll_at(Some(self.stay), cx).map(drop)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if self.is_ours() {
            self.meet();
            self.driver.come_home(|stay| stay == self.stay, None);
        }
    }
}

/// A command that is under way.
pub(super) struct Attendance<'a> {
    driver: &'a Driver,
    /// What was written before it.
    written: u64,
    _need: Option<Need>,
}

impl Attendance<'_> {
    /// Whether the command, which has failed, surely was not sent: not a byte was written since.
    pub(super) fn is_unsent(&self) -> bool {
        self.driver.place.written() == self.written
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        self.driver.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::mpsc::{self, RecvTimeoutError};

    use tokio::runtime::{Builder, Runtime};
    use tokio::sync::oneshot;

    use super::*;
    use crate::keeper::Keeper;

    fn driver(guest: &Runtime, work: impl Future<Output = ()> + Send + 'static) -> Arc<Driver> {
        let homes = Homes::new(Keeper::get().unwrap(), Some(guest.handle().clone()));
        // It moves when it is told to, and not because this thread is slow.
        let look = Duration::from_secs(3_600);
        Driver::start(work, Place::default(), Arc::new(homes), look).unwrap()
    }

    fn runtime() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    fn is_away(driver: &Driver) -> bool {
        driver.berth().away.is_some()
    }

    #[test]
    fn it_comes_home_when_its_runtime_ends() {
        let guest = runtime();
        let driver = driver(&guest, pending());
        let _command = guest.block_on(async { driver.attend() });
        assert!(is_away(&driver));
        drop(guest);
        assert!(!is_away(&driver), "nobody had to look");
    }

    #[test]
    fn it_does_not_go_to_a_runtime_that_has_ended() {
        let guest = runtime();
        let handle = guest.handle().clone();
        let driver = driver(&guest, pending());
        drop(guest);
        let _inside = handle.enter();
        let _command = driver.attend();
        assert!(!is_away(&driver));
    }

    #[test]
    fn a_need_brings_it_home_and_keeps_it_there() {
        let guest = runtime();
        let driver = driver(&guest, pending());
        let inside = guest.enter();
        drop(driver.attend());
        assert!(is_away(&driver));
        let need = driver.homes.need();
        driver.call_home();
        drop(driver.attend());
        assert!(!is_away(&driver));
        drop(need);
        drop(driver.attend());
        assert!(!is_away(&driver), "nobody has polled the task of its stay");
        drop(inside);
        guest.block_on(async {
            tokio::task::yield_now().await;
            drop(driver.attend());
        });
        assert!(is_away(&driver));
    }

    /// Called home in the middle of a poll, it goes on there as soon as that is over.
    #[test]
    fn it_is_handed_over_when_a_poll_is_over() {
        let guest = runtime();
        let (polling, polled) = mpsc::channel();
        let (go_on, told) = mpsc::channel::<()>();
        let told = Mutex::new(told);
        let here = guest.handle().id();
        let driver = driver(
            &guest,
            poll_fn(move |_| {
                let id = Handle::current().id();
                polling.send(id).unwrap();
                if id == here {
                    let _ = told.lock().unwrap().recv();
                }
                Poll::Pending
            }),
        );
        let next = || polled.recv_timeout(Duration::from_secs(20)).unwrap();
        let keeper = driver.homes.keeper.id();
        assert_eq!(next(), keeper);
        let away = driver.clone();
        let (leave, over) = oneshot::channel::<()>();
        let guest = std::thread::spawn(move || {
            guest.block_on(async {
                drop(away.attend());
                // Once is not enough: the keeper may be in the middle of a poll.
                let _ = over.await;
            });
        });
        assert_eq!(next(), here);
        driver.call_home();
        let start = Instant::now();
        // It was told to come, and found nothing to poll.
        while driver.berth().keeper.is_none() {
            assert!(start.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        }
        go_on.send(()).unwrap();
        assert_eq!(next(), keeper);
        drop(leave);
        guest.join().unwrap();
        driver.abort();
    }

    /// Whoever is called back by a poll may do all that others may, in the same thread.
    #[test]
    fn it_may_be_called_home_and_ended_by_its_own_poll() {
        let guest = runtime();
        let slot: Arc<Mutex<Option<Arc<Driver>>>> = Arc::default();
        let myself = slot.clone();
        let (dropped, gone) = mpsc::channel();
        let work = async move {
            let _dropped = dropped;
            poll_fn(|_| {
                if let Some(driver) = &*myself.lock().unwrap()
                    && is_away(driver)
                {
                    drop(driver.attend());
                    driver.call_home();
                    driver.abort();
                    driver.call_home();
                }
                Poll::<()>::Pending
            })
            .await;
        };
        let driver = driver(&guest, work);
        *slot.lock().unwrap() = Some(driver.clone());
        guest.block_on(async {
            drop(driver.attend());
            tokio::task::yield_now().await;
        });
        let ended: Result<(), _> = gone.recv_timeout(Duration::from_secs(20));
        assert_eq!(ended, Err(RecvTimeoutError::Disconnected));
        assert!(driver.berth().gone);
    }

    #[test]
    fn a_poll_that_panics_ends_it() {
        let guest = runtime();
        let driver = driver(&guest, async {
            std::panic::resume_unwind(Box::new("somebody's listener"));
        });
        let start = Instant::now();
        while !driver.berth().gone {
            assert!(start.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        }
        let _inside = guest.enter();
        drop(driver.attend());
        assert!(!is_away(&driver));
    }

    #[test]
    fn what_was_sent_is_known_by_what_was_written() {
        let guest = runtime();
        let driver = driver(&guest, pending());
        let command = driver.attend();
        assert!(command.is_unsent());
        driver.place.wrote(&Poll::Pending);
        assert!(command.is_unsent());
        driver.place.wrote(&Poll::Ready(Ok(1)));
        assert!(!command.is_unsent());
        assert!(driver.attend().is_unsent(), "that was before");
    }
}
