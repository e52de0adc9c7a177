//! A test that takes the lock of a payment at each of its awaits, and finds the one at which a customer pays twice.
//!
//! ```text
//! cargo run -p lock-examples --example interrupted
//! ```
//!
//! In a service, `survives` is a test with `#[tokio::test(start_paused = true)]`.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, distributed_lock, testing};
use tokio::task::LocalSet;
use tokio::time::sleep;

const INVOICE: u64 = 7;

/// The time of a message to the bank or to the database, or back. Paused time skips it.
const A_MESSAGE: Duration = Duration::from_millis(20);

/// Stands for the bank, which may charge without the shop's knowledge.
#[derive(Default)]
struct Bank {
    charges: Cell<u32>,
    /// The requests that the bank has carried out.
    known: RefCell<Vec<u64>>,
}

impl Bank {
    async fn charge(&self) {
        sleep(A_MESSAGE).await;
        self.charges.update(|charges| charges + 1);
        sleep(A_MESSAGE).await;
    }

    /// Charges unless the bank knows the request.
    async fn charge_once(&self, request: u64) {
        sleep(A_MESSAGE).await;
        if !self.known.borrow().contains(&request) {
            self.known.borrow_mut().push(request);
            self.charges.update(|charges| charges + 1);
        }
        sleep(A_MESSAGE).await;
    }
}

struct Shop {
    locks: LockClient,
    bank: Bank,
    /// Stands for a column of the database.
    is_paid: Cell<bool>,
}

impl Shop {
    fn new(locks: &LockClient) -> Shop {
        Shop {
            locks: locks.clone(),
            bank: Bank::default(),
            is_paid: Cell::new(false),
        }
    }

    /// Only one process at a time charges. But one may have charged, and be stopped before it notes that.
    #[distributed_lock(key = "invoice:<id>", client = self.locks)]
    async fn pay(&self, id: u64) -> Result<(), LockError> {
        if !self.is_paid.get() {
            self.bank.charge().await;
            self.note_payment().await;
        }
        Ok(())
    }

    /// The bank compares the invoice, so that a second request has no effect.
    #[distributed_lock(key = "invoice:<id>", client = self.locks)]
    async fn pay_once(&self, id: u64) -> Result<(), LockError> {
        if !self.is_paid.get() {
            self.bank.charge_once(id).await;
            self.note_payment().await;
        }
        Ok(())
    }

    async fn note_payment(&self) {
        sleep(A_MESSAGE).await;
        self.is_paid.set(true);
    }
}

/// A payment that loses its lock is made again, and the customer pays once.
async fn survives(pay: impl AsyncFn(&Shop) -> Result<(), LockError>) -> usize {
    let tried = testing::lose_at_each_await(async |locks: &LockClient| {
        let shop = Shop::new(locks);
        if pay(&shop).await.is_err() {
            pay(&shop).await.expect("the next caller");
        }
        assert_eq!(shop.bank.charges.get(), 1, "charges");
    });
    tried.await.awaits
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("The first version:");
    let tasks = LocalSet::new();
    let test = tasks.spawn_local(survives(async |shop: &Shop| shop.pay(INVOICE).await));
    tasks.await;
    let failure = test.await.expect_err("the test fails").into_panic();
    let failure = failure.downcast::<String>().expect("a text");
    for line in failure.lines() {
        println!("  {line}");
    }
    println!("The mended version:");
    let awaits = survives(async |shop: &Shop| shop.pay_once(INVOICE).await).await;
    println!("  survives the loss of its lock at each of {awaits} awaits.");
}
