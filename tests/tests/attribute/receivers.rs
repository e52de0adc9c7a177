//! Methods: every receiver, impls, traits, constants of `Self`.

use std::fmt::Debug;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use lock_runtime::{LockClient, LockError, distributed_lock};

use super::{AppError, held};

#[derive(Clone)]
struct Shop<T = u8> {
    locks: LockClient,
    id: T,
    sold: u32,
}

impl<T> Shop<T> {
    fn new(id: T) -> Shop<T> {
        Shop {
            locks: LockClient::memory(),
            id,
            sold: 0,
        }
    }
}

impl Shop {
    const KIND: &'static str = "bakery";

    #[distributed_lock(key = "shop:<self.id>", client = self.locks)]
    async fn shared(&self) -> Result<u32, AppError> {
        assert!(held(&self.locks, "shop:7"));
        Ok(self.sold)
    }

    #[distributed_lock(key = "shop:<self.id>", client = self.locks)]
    async fn exclusive(&mut self) -> Result<&mut u32, AppError> {
        assert!(held(&self.locks, "shop:7"));
        self.sold += 1;
        Ok(&mut self.sold)
    }

    #[distributed_lock(key = "shop:<self.id>", client = self.locks)]
    fn exclusive_blocking(&mut self) -> Result<&mut u32, AppError> {
        assert!(held(&self.locks, "shop:7"));
        self.sold += 1;
        Ok(&mut self.sold)
    }

    #[distributed_lock(key = "shop:<self.id>", client = self.locks)]
    async fn by_value(self) -> Result<u32, AppError> {
        assert!(held(&self.locks, "shop:7"));
        Ok(self.sold)
    }

    #[distributed_lock(key = "shop:<self.id>", client = self.locks)]
    async fn mutable_value(mut self) -> Result<u32, AppError> {
        self.sold += 10;
        Ok(self.sold)
    }

    #[distributed_lock(key = "shop:<self.id>", client = &self.locks)]
    async fn by_arc(self: Arc<Self>) -> Result<u32, AppError> {
        Ok(self.sold)
    }

    #[distributed_lock(key = "shop:<self.id>", client = self.locks)]
    fn by_rc(self: &Rc<Self>) -> Result<u32, AppError> {
        Ok(self.sold)
    }

    #[distributed_lock(key = "shop:<self.id>", client = self.locks)]
    async fn pinned(self: Pin<&mut Self>) -> Result<u32, AppError> {
        let shop = self.get_mut();
        shop.sold += 1;
        Ok(shop.sold)
    }

    #[distributed_lock(key = "<Self::KIND>", client = locks, guard = lock)]
    async fn no_receiver(locks: &LockClient) -> Result<String, AppError> {
        Ok(lock.key().to_owned())
    }
}

#[tokio::test]
async fn every_receiver() {
    let mut shop = Shop::new(7);
    assert_eq!(shop.shared().await.unwrap(), 0);
    *shop.exclusive().await.unwrap() += 1;
    assert_eq!(shop.sold, 2);
    *shop.exclusive_blocking().unwrap() += 1;
    assert_eq!(shop.sold, 4);
    assert_eq!(Pin::new(&mut shop).pinned().await.unwrap(), 5);
    assert_eq!(shop.clone().by_value().await.unwrap(), 5);
    assert_eq!(shop.clone().mutable_value().await.unwrap(), 15);
    assert_eq!(Rc::new(shop.clone()).by_rc().unwrap(), 5);
    assert_eq!(Shop::no_receiver(&shop.locks).await.unwrap(), "bakery");
    assert_eq!(Arc::new(shop).by_arc().await.unwrap(), 5);
}

impl<T> Shop<T>
where
    T: lock_runtime::KeyPart + Debug + Sync,
{
    #[distributed_lock(key = "<self.id>:<N>:<extra>", client = self.locks, guard = lock)]
    async fn generic<const N: usize, U>(&self, extra: U) -> Result<String, LockError>
    where
        U: lock_runtime::KeyPart + Clone,
    {
        let _ = extra.clone();
        Ok(lock.key().to_owned())
    }
}

#[tokio::test]
async fn a_generic_method_of_a_generic_type() {
    let shop = Shop::new(String::from("a"));
    assert_eq!(shop.generic::<3, _>('x').await.unwrap(), "a:3:x");
}

trait Stock {
    fn locks(&self) -> &LockClient;

    fn take(&self, id: u64) -> impl Future<Output = Result<u64, AppError>>;

    #[distributed_lock(key = "stock:<id>", client = self.locks())]
    async fn put(&self, id: u64) -> Result<u64, AppError> {
        assert!(held(self.locks(), "stock:9"));
        self.take(id).await
    }

    #[distributed_lock(key = "stock:<id>", client = self.locks())]
    fn count(&self, id: u64) -> Result<u64, AppError> {
        assert!(held(self.locks(), "stock:9"));
        Ok(id)
    }
}

impl Stock for Shop {
    fn locks(&self) -> &LockClient {
        &self.locks
    }

    #[distributed_lock(key = "stock:<id>", client = self.locks)]
    async fn take(&self, id: u64) -> Result<u64, AppError> {
        assert!(held(&self.locks, "stock:9"));
        Ok(id + 1)
    }
}

#[tokio::test]
async fn trait_methods_and_default_bodies() {
    let shop = Shop::new(7);
    assert_eq!(shop.take(9).await.unwrap(), 10);
    // The default body calls a method that needs the same lock.
    assert_eq!(shop.put(9).await.unwrap(), 10);
    assert_eq!((&shop as &Shop).count(9).unwrap(), 9);
}

#[async_trait::async_trait]
trait Ledger: Send + Sync {
    async fn post(&self, amount: u32, (from, to): (u8, u8)) -> Result<String, AppError>;
    async fn note(&self, text: &str, log: &mut Vec<String>, times: usize) -> Result<(), AppError>;
    async fn open(locks: &LockClient, name: &str) -> Result<String, AppError>
    where
        Self: Sized;
    async fn close(&mut self);
    #[distributed_lock(key = "ledger:<self.name()>", client = self.ledger_locks(), guard = lock)]
    async fn audit(&self) -> Result<String, AppError> {
        Ok(format!("{} {}", self.name(), lock.key()))
    }
    fn name(&self) -> String;
    fn ledger_locks(&self) -> &LockClient;
}

#[async_trait::async_trait]
impl Ledger for Shop {
    #[distributed_lock(key = "ledger:<self.id>:<from>/<to>", client = self.locks, guard = lock)]
    async fn post(&self, amount: u32, (from, to): (u8, u8)) -> Result<String, AppError> {
        if amount == 0 {
            return Err(AppError::Own);
        }
        assert!(held(&self.locks, lock.key()));
        Ok(format!("{} {amount} {from}>{to}", lock.key()))
    }

    #[distributed_lock(key = "ledger:<text>:<log.len()>:<times>", client = self.locks, guard = lock)]
    async fn note(&self, text: &str, log: &mut Vec<String>, times: usize) -> Result<(), AppError> {
        assert!(held(&self.locks, lock.key()));
        log.extend(std::iter::repeat_n(format!("{text} {}", lock.key()), times));
        Ok(())
    }

    #[distributed_lock(key = "open:<name>", client = locks, guard = lock)]
    async fn open(locks: &LockClient, name: &str) -> Result<String, AppError> {
        assert!(held(locks, "open:main"));
        Ok(format!("{name} {}", lock.key()))
    }

    #[distributed_lock(key = "ledger:<self.id>", client = self.locks, or_else = |error| panic!("{error}"))]
    async fn close(&mut self) {
        assert!(held(&self.locks, "ledger:7"));
        self.sold = 0;
    }

    fn name(&self) -> String {
        "main".into()
    }

    fn ledger_locks(&self) -> &LockClient {
        &self.locks
    }
}

#[tokio::test]
async fn methods_under_async_trait() {
    let mut shop: Box<dyn Ledger> = Box::new(Shop::new(7));
    assert_eq!(shop.post(5, (1, 2)).await.unwrap(), "ledger:7:1/2 5 1>2");
    assert!(matches!(shop.post(0, (1, 2)).await, Err(AppError::Own)));
    let mut log = vec![String::new()];
    shop.note("x", &mut log, 2).await.unwrap();
    assert_eq!(log[1..], ["x ledger:x:1:2", "x ledger:x:1:2"]);
    assert_eq!(shop.audit().await.unwrap(), "main ledger:main");
    shop.close().await;
    let locks = LockClient::memory();
    let opened = <Shop as Ledger>::open(&locks, "main").await.unwrap();
    assert_eq!(opened, "main open:main");
}
