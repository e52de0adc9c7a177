//! `mode`, `permits` and `take`: calls that hold a lock together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use lock_runtime::{Acquire, KeyPart, LockClient, LockError, LockErrorKind, distributed_lock};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{AppError, held};

/// Whether a lock can be had at once, asked from a call tree of its own.
fn is_open(ask: Acquire) -> bool {
    let asked = thread::spawn(move || match ask.try_acquire_blocking()? {
        Some(guard) => guard.release_blocking().map(|()| true),
        None => Ok(false),
    });
    asked
        .join()
        .expect("asking does not panic")
        .expect("the memory backend always answers")
}

/// The number of permits of a lock with five that are not taken.
fn permits_left(locks: &LockClient, key: &str) -> u32 {
    let may_take = |count: &u32| is_open(locks.lock(key).permits(5).take(*count));
    (1..=5).take_while(may_take).count() as u32
}

#[tokio::test]
async fn readers_are_inside_together() {
    #[distributed_lock(key = "report", mode = "read", wait = "0s", client = locks)]
    async fn reading(locks: &LockClient, both: &Barrier) -> Result<(), LockError> {
        both.wait().await;
        Ok(())
    }

    let (locks, both) = (LockClient::memory(), Barrier::new(2));
    tokio::try_join!(reading(&locks, &both), reading(&locks, &both)).unwrap();
    assert!(!held(&locks, "report"));
}

#[tokio::test]
async fn reader_admits_readers_and_no_writer() {
    #[distributed_lock(key = "report", mode = "read", client = locks)]
    async fn reading(locks: &LockClient) -> Result<(), LockError> {
        assert_reading(locks);
        tokio::task::yield_now().await;
        assert_reading(locks);
        Ok(())
    }

    #[distributed_lock(key = "report", mode = "read", client = locks)]
    fn reading_blocking(locks: &LockClient) -> Result<(), LockError> {
        assert_reading(locks);
        Ok(())
    }

    fn assert_reading(locks: &LockClient) {
        assert!(is_open(locks.lock("report").read()));
        assert!(!is_open(locks.lock("report").write()));
        assert!(held(locks, "report"), "a plain lock is a writer");
    }

    let locks = LockClient::memory();
    reading(&locks).await.unwrap();
    assert!(!held(&locks, "report"));
    reading_blocking(&locks).unwrap();
    assert!(!held(&locks, "report"));
}

#[tokio::test]
async fn writer_admits_neither_readers_nor_permits() {
    #[distributed_lock(key = "report", mode = "write", client = locks)]
    async fn writing(locks: &LockClient) -> Result<(), LockError> {
        assert_writing(locks);
        tokio::task::yield_now().await;
        assert_writing(locks);
        Ok(())
    }

    #[distributed_lock(key = "report", mode = "write", client = locks)]
    fn writing_blocking(locks: &LockClient) -> Result<(), LockError> {
        assert_writing(locks);
        Ok(())
    }

    #[distributed_lock(key = "report", client = locks)]
    fn plain(locks: &LockClient) -> Result<(), LockError> {
        assert_writing(locks);
        Ok(())
    }

    fn assert_writing(locks: &LockClient) {
        assert!(!is_open(locks.lock("report").read()));
        assert!(!is_open(locks.lock("report").write()));
        assert_eq!(permits_left(locks, "report"), 0);
    }

    let locks = LockClient::memory();
    writing(&locks).await.unwrap();
    writing_blocking(&locks).unwrap();
    plain(&locks).unwrap();
    assert!(!held(&locks, "report"));
}

#[tokio::test]
async fn writer_waits_for_the_last_reader() {
    #[distributed_lock(key = "report", mode = "write", wait = "1m", client = locks)]
    async fn writing(locks: &LockClient, readers: &AtomicU32) -> Result<u32, LockError> {
        Ok(readers.load(Ordering::Relaxed))
    }

    let (locks, readers) = (LockClient::memory(), AtomicU32::new(2));
    let reading = locks.lock("report").read();
    let one = reading.clone().acquire().await.unwrap();
    let another = reading.acquire().await.unwrap();
    let leaving = async {
        for reader in [one, another] {
            tokio::task::yield_now().await;
            readers.fetch_sub(1, Ordering::Relaxed);
            reader.release().await?;
        }
        Ok(())
    };
    let (left, ()) = tokio::try_join!(writing(&locks, &readers), leaving).unwrap();
    assert_eq!(left, 0);
}

#[tokio::test(start_paused = true)]
async fn permits_are_a_limit_that_all_calls_reach() {
    struct Inside {
        count: AtomicU32,
        three: Barrier,
    }

    // With another limit than three, the calls would wait for each other, and some end busy.
    #[distributed_lock(key = "supplier", permits = 3, client = locks)]
    async fn ordering(locks: LockClient, inside: Arc<Inside>) -> Result<(), LockError> {
        let before = inside.count.fetch_add(1, Ordering::Relaxed);
        assert!(before < 3, "{before} were inside");
        inside.three.wait().await;
        inside.count.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    let locks = LockClient::memory();
    let inside = Arc::new(Inside {
        count: AtomicU32::new(0),
        three: Barrier::new(3),
    });
    let mut calls = JoinSet::new();
    for _ in 0..9 {
        calls.spawn(ordering(locks.clone(), inside.clone()));
    }
    while let Some(outcome) = calls.join_next().await {
        outcome.expect("no call panics").unwrap();
    }
    assert!(!held(&locks, "supplier"));
}

#[tokio::test]
async fn call_takes_as_many_permits_as_the_attribute_says() {
    #[distributed_lock(key = "supplier", permits = 5, client = locks)]
    async fn one(locks: &LockClient) -> Result<u32, LockError> {
        Ok(permits_left(locks, "supplier"))
    }

    #[distributed_lock(key = "supplier", permits = 0x5, take = 2u32, client = locks)]
    fn two(locks: &LockClient) -> Result<u32, LockError> {
        Ok(permits_left(locks, "supplier"))
    }

    #[distributed_lock(key = "supplier", permits = 5, take = 2 + extra, client = locks)]
    async fn more(locks: &LockClient, extra: u32) -> Result<u32, LockError> {
        Ok(permits_left(locks, "supplier"))
    }

    let locks = LockClient::memory();
    assert_eq!(one(&locks).await.unwrap(), 4);
    assert_eq!(two(&locks).unwrap(), 3);
    assert_eq!(more(&locks, 1).await.unwrap(), 2);
    assert_eq!(more(&locks, 3).await.unwrap(), 0);
    assert_eq!(permits_left(&locks, "supplier"), 5);
}

#[distributed_lock(key = "limited", permits = limit, take = take, client = locks)]
async fn limited(locks: &LockClient, limit: u32, take: u32) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "limited", permits = limit, take = take, client = locks)]
fn limited_blocking(locks: &LockClient, limit: u32, take: u32) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn impossible_numbers_fail_at_run_time_in_the_compilers_words() {
    let locks = LockClient::memory();
    for (limit, take, sentence) in [
        (0, 1, "`permits` must be at least 1"),
        (5, 0, "`take` must be at least 1"),
        (5, 6, "6 of 5 permits can never be had"),
    ] {
        let error = limited(&locks, limit, take).await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains(sentence), "{error}");
        let error = limited_blocking(&locks, limit, take).unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains(sentence), "{error}");
    }
    // A limit of one may come from a configuration.
    limited(&locks, 1, 1).await.unwrap();
    limited_blocking(&locks, 1, 1).unwrap();
}

#[tokio::test]
async fn retained_share_fails_at_run_time_unless_zero() {
    #[distributed_lock(key = "report", mode = "read", retain = retain, client = locks)]
    async fn reading(locks: &LockClient, retain: Duration) -> Result<(), LockError> {
        Ok(())
    }

    #[distributed_lock(key = "report", mode = "read", retain = "0s", client = locks)]
    fn never_retained(locks: &LockClient) -> Result<(), LockError> {
        Ok(())
    }

    let locks = LockClient::memory();
    let error = reading(&locks, Duration::from_millis(1)).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
    let sentence = "a share of a lock is never retained";
    assert!(error.to_string().contains(sentence), "{error}");
    reading(&locks, Duration::ZERO).await.unwrap();
    never_retained(&locks).unwrap();
}

#[tokio::test]
async fn busy_share_is_skipped_or_replaced() {
    #[distributed_lock(key = "supplier", permits = 5, take = 2, wait = "0s", on_busy = "skip", client = locks)]
    async fn skipping(locks: &LockClient) -> Result<Option<u8>, LockError> {
        Ok(Some(1))
    }

    #[distributed_lock(key = "supplier", mode = "read", wait = "0s", client = locks, or_else = |_| 0)]
    fn replaced(locks: &LockClient) -> u8 {
        1
    }

    let locks = LockClient::memory();
    let supplier = locks.lock("supplier");
    let beside = supplier.clone().permits(5).take(3).acquire().await.unwrap();
    assert_eq!(skipping(&locks).await.unwrap(), Some(1));
    assert_eq!(replaced(&locks), 1, "a reader asks for no permit");
    let full = supplier.clone().permits(5).acquire().await.unwrap();
    assert_eq!(skipping(&locks).await.unwrap(), None);
    beside.release().await.unwrap();
    full.release().await.unwrap();
    let _writer = supplier.write().acquire().await.unwrap();
    assert_eq!(skipping(&locks).await.unwrap(), None);
    assert_eq!(replaced(&locks), 0);
}

#[tokio::test(start_paused = true)]
async fn options_of_a_lease_apply_to_a_share() {
    #[distributed_lock(key = "report", mode = "read", ttl = "1s", client = locks)]
    async fn renewed(locks: &LockClient) -> Result<(), LockError> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    }

    #[distributed_lock(key = "report", mode = "read", ttl = "1s", renew = false, client = locks)]
    async fn lapsing(locks: &LockClient) -> Result<(), LockError> {
        std::future::pending().await
    }

    #[distributed_lock(key = "report", permits = 5, max_hold = "5s", client = locks)]
    async fn hanging(locks: &LockClient) -> Result<(), LockError> {
        std::future::pending().await
    }

    #[distributed_lock(
        key = "report", permits = 5, ttl = "1s", renew = false, on_lost = "finish", client = locks
    )]
    async fn finishing(locks: &LockClient) -> Result<u8, LockError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(1)
    }

    #[distributed_lock(key = "report", mode = "read", ttl = "3s", client = locks, guard = lock)]
    async fn remaining(locks: &LockClient) -> Result<Duration, LockError> {
        Ok(lock.remaining())
    }

    let locks = LockClient::memory();
    renewed(&locks).await.unwrap();
    assert!(lapsing(&locks).await.unwrap_err().is_lost());
    assert!(hanging(&locks).await.unwrap_err().is_lost());
    assert_eq!(finishing(&locks).await.unwrap(), 1);
    let remaining = remaining(&locks).await.unwrap();
    assert!(remaining > Duration::from_secs(1) && remaining <= Duration::from_secs(3));
}

#[tokio::test]
async fn reader_may_refuse_to_be_nested() {
    #[distributed_lock(key = "report", mode = "write", client = locks)]
    async fn outer(locks: &LockClient) -> Result<u8, LockError> {
        inner(locks).await
    }

    #[distributed_lock(key = "report", mode = "read", reentrant = false, client = locks)]
    async fn inner(locks: &LockClient) -> Result<u8, LockError> {
        Ok(1)
    }

    let locks = LockClient::memory();
    assert_eq!(inner(&locks).await.unwrap(), 1);
    assert!(outer(&locks).await.unwrap_err().is_reentered());
}

/// Permits from everything that an expression may name.
struct Supplier {
    locks: LockClient,
    limit: u32,
}

impl Supplier {
    const WEIGHT: u32 = 2;

    fn new() -> Supplier {
        Supplier {
            locks: LockClient::memory(),
            limit: 5,
        }
    }

    fn left(&self) -> u32 {
        permits_left(&self.locks, "supplier:7")
    }

    #[distributed_lock(key = "supplier:<id>", permits = self.limit, take = Self::WEIGHT, client = self.locks)]
    async fn method(&self, id: u8) -> Result<u32, AppError> {
        Ok(self.left())
    }

    #[distributed_lock(key = "supplier:<id>", permits = self.limit, client = self.locks)]
    fn exclusive_borrow(&mut self, id: u8) -> Result<u32, AppError> {
        self.limit += 1;
        Ok(self.left())
    }

    #[distributed_lock(key = "supplier:<id>", permits = self.limit, take = take.into(), client = self.locks)]
    async fn generic<I, T>(&self, id: I, take: T) -> Result<u32, AppError>
    where
        I: KeyPart,
        T: Into<u32> + Copy,
    {
        Ok(self.left())
    }

    #[distributed_lock(key = "supplier:<id>", permits = N, take = N - 1, client = self.locks)]
    fn constant<const N: u32>(&self, id: u8) -> Result<u32, AppError> {
        Ok(self.left())
    }

    #[distributed_lock(key = "supplier:<id>", permits = self.limit, client = self.locks)]
    fn future(&self, id: u8) -> impl Future<Output = Result<u32, AppError>> {
        async move { Ok(self.left()) }
    }
}

trait Orders {
    fn supplier(&self) -> &Supplier;

    #[distributed_lock(key = "supplier:7", permits = self.supplier().limit, client = self.supplier().locks)]
    async fn default_body(&self) -> Result<u32, AppError> {
        Ok(self.supplier().left())
    }

    #[distributed_lock(key = "supplier:7", mode = "read", client = self.supplier().locks)]
    fn reading(&self) -> Result<bool, AppError> {
        Ok(is_open(self.supplier().locks.lock("supplier:7").read()))
    }
}

impl Orders for Supplier {
    fn supplier(&self) -> &Supplier {
        self
    }
}

#[async_trait::async_trait]
trait Boxed {
    async fn boxed(&self, take: u32) -> Result<u32, AppError>;
}

#[async_trait::async_trait]
impl Boxed for Supplier {
    #[distributed_lock(key = "supplier:7", permits = self.limit, take = take, client = self.locks)]
    async fn boxed(&self, take: u32) -> Result<u32, AppError> {
        Ok(self.left())
    }
}

#[tokio::test]
async fn numbers_come_from_whatever_is_in_scope() {
    let mut supplier = Supplier::new();
    assert_eq!(supplier.method(7).await.unwrap(), 3);
    assert_eq!(supplier.generic("7", 3_u8).await.unwrap(), 2);
    assert_eq!(supplier.constant::<4>(7).unwrap(), 2);
    assert_eq!(supplier.future(7).await.unwrap(), 4);
    assert_eq!(supplier.default_body().await.unwrap(), 4);
    assert!(supplier.reading().unwrap());
    assert_eq!(supplier.boxed(3).await.unwrap(), 2);
    assert_eq!(supplier.exclusive_borrow(7).unwrap(), 4);
    assert_eq!(supplier.left(), 5);
}

#[test]
fn options_of_a_macro_are_read_like_others() {
    macro_rules! made {
        ($name:ident, $limit:literal, $take:expr) => {
            #[distributed_lock(key = "made", permits = $limit, take = $take, client = locks)]
            fn $name(locks: &LockClient) -> Result<u32, LockError> {
                Ok(permits_left(locks, "made"))
            }
        };
        ($name:ident, $mode:literal) => {
            #[distributed_lock(key = "made", mode = $mode, client = locks)]
            fn $name(locks: &LockClient) -> Result<bool, LockError> {
                Ok(is_open(locks.lock("made").read()))
            }
        };
    }
    made!(permits, 5, 1 + 2);
    made!(reading, "read");
    made!(writing, "write");

    let locks = LockClient::memory();
    assert_eq!(permits(&locks).unwrap(), 2);
    assert!(reading(&locks).unwrap());
    assert!(!writing(&locks).unwrap());
}
