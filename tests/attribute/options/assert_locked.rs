//! `assert_locked!` in functions under a lock, and where it panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lock_runtime::{
    LockClient, LockError, LockKey, assert_locked, distributed_lock, in_current_hold, testing,
};

#[derive(LockKey)]
#[lock_key("invoice:<id>")]
struct InvoiceKey {
    id: u64,
}

struct Shop {
    locks: LockClient,
    tenant: &'static str,
}

impl Shop {
    #[distributed_lock(key = "{<self.tenant>}:invoice:<id>", client = self.locks)]
    async fn pay(&self, id: u64) -> Result<(), LockError> {
        self.mark_paid(id);
        tokio::task::yield_now().await;
        self.mark_paid(id);
        Ok(())
    }

    #[distributed_lock(key = "{<self.tenant>}:invoice:<id>", client = self.locks)]
    fn pay_blocking(&self, id: u64) -> Result<(), LockError> {
        self.mark_paid(id);
        Ok(())
    }

    fn mark_paid(&self, id: u64) {
        assert_locked!(write "{<self.tenant>}:invoice:<id>", client = self.locks);
    }
}

/// The message of the panic.
fn panic_of(work: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("it panics");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[tokio::test]
async fn caller_that_holds_the_lock_goes_on() {
    let shop = Shop {
        locks: LockClient::memory(),
        tenant: "a:cme",
    };
    shop.pay(7).await.unwrap();
    shop.pay_blocking(7).unwrap();
    let nested = shop.locks.lock("order:7").run(async |_| shop.pay(7).await);
    nested.await.unwrap().unwrap();
}

#[test]
fn every_form_of_key_and_client_is_asserted() {
    #[distributed_lock(key = InvoiceKey { id }, client = locks)]
    fn under_the_lock(locks: &LockClient, id: u64) -> Result<(), LockError> {
        let write = InvoiceKey { id };
        let key = format!("invoice:{id}");
        let shared = Arc::new(locks.clone());
        assert_locked!("invoice:<id>", client = locks);
        assert_locked!("invoice:<write.id>", client = shared,);
        assert_locked!(InvoiceKey { id }, client = locks);
        assert_locked!(&write, client = locks);
        assert_locked!(write & write, client = locks);
        assert_locked!(write InvoiceKey { id }, client = &locks, crate = lock_runtime);
        assert_locked!(write, client = locks);
        assert_locked!(&*key, client = locks);
        Ok(())
    }

    under_the_lock(&LockClient::memory(), 7).unwrap();
}

#[tokio::test]
async fn installed_client_is_asked_without_another() {
    let locks = LockClient::memory();
    let work = locks.lock("invoice:7").run(async |_| {
        let id = 7;
        assert_locked!("invoice:<id>");
    });
    testing::with_installed(&locks, work).await.unwrap();
}

#[test]
fn panic_names_the_key_and_the_locks_that_are_held() {
    #[distributed_lock(keys = ["stock:<id>", "order:<id>"], client = locks)]
    fn nested(locks: &LockClient, id: u64) -> Result<String, LockError> {
        Ok(panic_of(|| assert_locked!("invoice:<id>", client = locks)))
    }

    #[distributed_lock(key = "rates:<id>", mode = "read", client = locks)]
    fn outer(locks: &LockClient, id: u64) -> Result<String, LockError> {
        assert_locked!("rates:<id>", client = locks);
        let alone = panic_of(|| assert_locked!(write "rates:<id>", client = locks));
        assert_eq!(
            alone,
            "`rates:7` is shared here, not locked exclusively: this call tree holds `rates:7` (shared)"
        );
        nested(locks, id)
    }

    let locks = LockClient::memory();
    assert_eq!(
        outer(&locks, 7).unwrap(),
        "`invoice:7` is not locked here: this call tree holds `order:7`, `stock:7`, `rates:7` (shared)"
    );
}

#[tokio::test]
async fn spawned_work_holds_nothing_unless_it_is_carried() {
    let locks = LockClient::memory();
    let body = locks.lock("invoice:7").run(async |_| {
        let check = |locks: LockClient| async move { assert_locked!("invoice:7", client = locks) };
        let carried = tokio::spawn(in_current_hold(check(locks.clone())));
        let spawned = tokio::spawn(check(locks.clone()));
        let asked = locks.clone();
        let thread = std::thread::spawn(move || asked.holds("invoice:7"));
        (carried.await, spawned.await, thread.join())
    });
    let (carried, spawned, thread) = body.await.unwrap();
    carried.unwrap();
    let panic = spawned.unwrap_err().into_panic();
    assert_eq!(
        panic.downcast_ref::<String>().expect("a message"),
        "`invoice:7` is not locked here: this call tree holds no lock of this client; spawned work holds none, unless `in_current_hold` carries them"
    );
    assert!(!thread.unwrap());
}

#[test]
fn key_that_cannot_be_locked_is_not_held() {
    #[distributed_lock(key = format!("invoice:{id}"), client = locks)]
    fn pay(locks: &LockClient, id: &str) -> Result<[String; 2], LockError> {
        const TEXT: &str = "invoice:<id>";
        let id = "";
        Ok([
            panic_of(|| assert_locked!("invoice:<id>", client = locks)),
            panic_of(|| assert_locked!(TEXT, client = locks)),
        ])
    }

    let [empty, text] = pay(&LockClient::memory(), "").unwrap();
    assert_eq!(
        empty,
        "`invoice:` cannot be locked: the value of `<id>` in the key is empty"
    );
    assert!(text.contains("only a string literal"), "{text}");
}
