//! Synchronous callers of a memory client, which run on nothing but their own threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use harness::{KEY, LONG, ms, wait_until};
use lock_runtime::{LockClient, LockError};
use tokio::runtime::Builder;

/// The cycles of one thread.
const CYCLES: u64 = 250;

const THREADS: usize = 4;

/// The kinds of threads and runtimes that a caller may run on.
#[derive(Clone, Copy, Debug)]
enum Place {
    NoRuntime,
    CurrentThread,
    Worker,
}

use Place::{CurrentThread, NoRuntime, Worker};

impl Place {
    fn run(self, work: impl FnOnce() + Send + 'static) {
        match self {
            NoRuntime => work(),
            CurrentThread => {
                let runtime = Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(async { work() });
            }
            Worker => {
                let mut builder = Builder::new_multi_thread();
                let runtime = builder.worker_threads(1).enable_all().build().unwrap();
                let worker = runtime.spawn(async { work() });
                runtime.block_on(worker).unwrap();
            }
        }
    }
}

/// How often the background thread has gone to sleep so far, according to the kernel.
fn sleeps() -> u64 {
    let counts = crate::statuses("lock-background").map(|status| {
        let name = "voluntary_ctxt_switches:";
        let count = status.lines().find_map(|line| line.strip_prefix(name));
        count.unwrap().trim().parse::<u64>().unwrap()
    });
    counts.sum()
}

/// Runs `work`, which makes this many cycles. The background thread may wake up for other reasons, such as an earlier
/// timer, but not once per cycle.
#[track_caller]
fn undisturbed(cycles: u64, work: impl FnOnce()) {
    let before = sleeps();
    work();
    let woken = sleeps() - before;
    assert!(woken < cycles / 2, "woken {woken} times in {cycles} cycles");
}

/// Asserts that one caller is inside at a time: a visit is counted as it begins and as it ends.
#[derive(Default)]
struct Room(AtomicU64);

impl Room {
    fn visit(&self) {
        let begun = self.0.fetch_add(1, Ordering::SeqCst);
        assert!(begun.is_multiple_of(2), "two are inside");
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// One cycle by each of the synchronous calls, one after the other.
fn alone(client: &LockClient) -> Result<(), LockError> {
    let lock = || client.lock(KEY).wait(LONG);
    for round in 0..CYCLES {
        match round % 4 {
            0 => lock().acquire_blocking()?.release_blocking()?,
            1 => lock().run_blocking(|_| ())?,
            2 => drop(lock().try_acquire_blocking()?.expect("it is free")),
            // The loss of this lease is reported: a timer is set, and removed.
            _ => lock().renew(false).acquire_blocking()?.release_blocking()?,
        }
    }
    Ok(())
}

fn blocking(client: &LockClient, room: &Room) {
    for _ in 0..CYCLES {
        let lock = client.lock(KEY).wait(LONG);
        lock.run_blocking(|_| room.visit()).unwrap();
    }
}

async fn awaiting(client: &LockClient, room: &Room) {
    for _ in 0..CYCLES {
        let lock = client.lock(KEY).wait(LONG);
        lock.run(async |_| room.visit()).await.unwrap();
    }
}

/// Makes threads and a task contend for one lock.
fn contended(places: [Place; THREADS]) {
    let (client, room) = (&LockClient::memory(), Arc::new(Room::default()));
    let contenders = THREADS as u64 + 1;
    undisturbed(contenders * CYCLES, || {
        thread::scope(|scope| {
            for place in places {
                let (client, room) = (client.clone(), room.clone());
                scope.spawn(move || place.run(move || blocking(&client, &room)));
            }
            let runtime = Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(awaiting(client, &room));
        });
    });
    assert_eq!(room.0.load(Ordering::SeqCst), contenders * CYCLES * 2);
}

#[test]
fn a_synchronous_call_stays_on_its_thread() {
    let _alone = crate::alone();
    let client = LockClient::memory();
    // The counter works: this case needs the background thread.
    let before = sleeps();
    let lease = client.lock(KEY).ttl(ms(20)).renew(false);
    let lease = lease.acquire_blocking().unwrap();
    wait_until("thread that is meant", LONG, || sleeps() > before);
    drop(lease);

    for place in [NoRuntime, CurrentThread, Worker] {
        let client = client.clone();
        undisturbed(CYCLES, || place.run(move || alone(&client).unwrap()));
    }
    contended([NoRuntime, CurrentThread, Worker, NoRuntime]);
}
