//! `client = …` with an expression that borrows or locks: it is released before the call waits.
#![forbid(
    unsafe_code,
    unused_mut,
    unused_must_use,
    unused_variables,
    reason = "an `allow` in the expansion is an error here"
)]

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use lock_runtime::{LockClient, distributed_lock};

use super::check::AppError;

static LOCKS: LazyLock<LockClient> = LazyLock::new(LockClient::memory);

#[distributed_lock(key = "static", client = LOCKS, guard = lock)]
async fn of_a_static() -> Result<bool, AppError> {
    Ok(lock.is_valid())
}

#[distributed_lock(key = "static", client = LOCKS, guard = lock)]
fn of_a_static_blocking() -> Result<bool, AppError> {
    Ok(lock.is_valid())
}

#[test]
fn client_may_be_a_lazy_static() {
    assert!(block_on(of_a_static()).unwrap());
    assert!(of_a_static_blocking().unwrap());
}

struct Shop {
    locks: Mutex<LockClient>,
    asking: Mutex<Sender<()>>,
}

impl Shop {
    /// Runs while the expression has the client's mutex locked, and reports that.
    fn says_so(&self) -> usize {
        let asking = self.asking.lock().expect("no thread panics with it");
        asking.send(()).expect("the test listens");
        0
    }

    #[distributed_lock(key = "guarded", wait = "5s", client = [&*self.locks.lock().unwrap()][self.says_so()])]
    async fn asynchronous(&self) -> Result<(), AppError> {
        Ok(())
    }

    #[distributed_lock(key = "guarded", wait = "5s", client = [&*self.locks.lock().unwrap()][self.says_so()])]
    fn synchronous(&self) -> Result<(), AppError> {
        Ok(())
    }
}

/// A call that waits for a lock, while the holder of that lock needs the source of the call's client.
fn a_holder_goes_on(call: fn(&Shop) -> Result<(), AppError>) {
    let locks = LockClient::memory();
    let held = locks.lock("guarded").acquire_blocking().unwrap();
    let (asking, asked) = channel();
    let shop = Arc::new(Shop {
        locks: Mutex::new(locks),
        asking: Mutex::new(asking),
    });
    let waiting = thread::spawn({
        let shop = shop.clone();
        move || call(&shop)
    });
    asked
        .recv_timeout(Duration::from_secs(60))
        .expect("it asks");
    drop(shop.locks.lock().unwrap());
    held.release_blocking().unwrap();
    let outcome = waiting.join().expect("it does not panic");
    outcome.expect("it gets the lock that the holder could release");
}

#[test]
fn source_of_a_client_is_free_while_a_call_waits() {
    a_holder_goes_on(Shop::synchronous);
    a_holder_goes_on(|shop| block_on(shop.asynchronous()));
}

fn block_on<F: std::future::Future>(call: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("it starts");
    runtime.block_on(call)
}
