//! Every receiver, async and not.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use lock_runtime::{KeyPart, distributed_lock};

use super::check::{AppError, assert_locks, at_once, entered, inside, locks, paused, pausing};

type Answer<T = u32> = Result<T, AppError>;

#[derive(Clone)]
struct Shop<T = u8> {
    id: T,
    sold: u32,
}

impl Shop {
    const KIND: &'static str = "bakery";

    #[distributed_lock(key = "&self:<self.id>")]
    async fn shared(&self) -> Answer {
        paused(self.sold).await
    }

    #[distributed_lock(key = "&self blocking:<self.id>")]
    fn shared_blocking(&self) -> Answer<&u32> {
        entered(&self.sold)
    }

    #[distributed_lock(key = "&mut self:<self.id>")]
    async fn exclusive(&mut self, by: &u32) -> Answer<&mut u32> {
        pausing().await;
        self.sold += by;
        Ok(&mut self.sold)
    }

    #[distributed_lock(key = "&mut self blocking:<self.id>")]
    fn exclusive_blocking(&mut self) -> Answer<&mut u32> {
        inside();
        self.sold += 1;
        Ok(&mut self.sold)
    }

    #[distributed_lock(key = "self:<self.id>")]
    async fn value(self) -> Answer<Self> {
        paused(self).await
    }

    #[distributed_lock(key = "mut self:<self.id>")]
    fn mutable_value(mut self) -> Answer<Self> {
        inside();
        self.sold += 1;
        Ok(self)
    }

    #[distributed_lock(key = "mut self async:<self.id>")]
    async fn mutable_value_async(mut self) -> Answer {
        pausing().await;
        self.sold += 1;
        Ok(self.sold)
    }

    #[distributed_lock(key = "Arc<<Self>>:<self.id>")]
    async fn arc(self: Arc<Self>) -> Answer {
        paused(self.sold).await
    }

    #[distributed_lock(key = "&Rc<<Self>>:<self.id>")]
    fn rc(self: &Rc<Self>) -> Answer<Rc<Self>> {
        entered(Rc::clone(self))
    }

    #[distributed_lock(key = "Box<<Self>>:<self.id>")]
    async fn boxed(mut self: Box<Self>) -> Answer {
        pausing().await;
        self.sold += 1;
        Ok(self.sold)
    }

    #[distributed_lock(key = "Pin<<&mut Self>>:<self.id>")]
    async fn pinned(mut self: Pin<&mut Self>) -> Answer {
        pausing().await;
        self.sold += 1;
        Ok(self.sold)
    }

    #[distributed_lock(key = "Pin<<&mut Self>> blocking:<self.id>")]
    fn pinned_blocking(self: Pin<&mut Self>) -> Answer<&mut u32> {
        entered(&mut self.get_mut().sold)
    }

    #[distributed_lock(key = "future:<self.id>")]
    fn future(&self) -> impl Future<Output = Answer> + '_ {
        async move { paused(self.sold).await }
    }

    #[distributed_lock(key = "<Self::KIND>:<id>")]
    async fn associated(id: u8) -> Answer<Self> {
        paused(Self { id, sold: 0 }).await
    }
}

impl<T> Shop<T>
where
    T: KeyPart + Clone,
{
    #[distributed_lock(key = "generic:<self.id>:<other>")]
    async fn generic<U: KeyPart>(&mut self, other: U) -> Answer<(&T, U)> {
        paused((&self.id, other)).await
    }
}

impl Shop<String> {
    #[distributed_lock(key = "other:<self.id>")]
    fn other(&self) -> Answer<&str> {
        entered(&self.id)
    }
}

#[tokio::test]
async fn every_receiver() {
    let mut shop = Shop { id: 7, sold: 0 };
    assert_locks!("&self:7", shop.shared().await, 0);
    assert_locks!(
        at_once("&self blocking:7"),
        shop.shared_blocking().copied(),
        0
    );
    assert_locks!("&mut self:7", shop.exclusive(&1).await.copied(), 1);
    let exclusive = async || shop.clone().exclusive_blocking().copied();
    assert_eq!(
        locks(at_once("&mut self blocking:7"), exclusive)
            .await
            .unwrap(),
        2
    );
    let same = locks("self:7", async || shop.clone().value().await);
    assert_eq!(same.await.unwrap().sold, 1);
    let other = locks(at_once("mut self:7"), async || shop.clone().mutable_value());
    assert_eq!(other.await.unwrap().sold, 2);
    let mutable = async || shop.clone().mutable_value_async().await;
    assert_eq!(locks("mut self async:7", mutable).await.unwrap(), 2);
    assert_locks!("Arc<Self>:7", Arc::new(shop.clone()).arc().await, 1);
    let rc = Rc::new(shop.clone());
    let same = locks(at_once("&Rc<Self>:7"), async || rc.rc()).await;
    assert_eq!(same.unwrap().sold, 1);
    assert_locks!("Box<Self>:7", Box::new(shop.clone()).boxed().await, 2);
    assert_locks!("Pin<&mut Self>:7", Pin::new(&mut shop).pinned().await, 2);
    let pinned = async || Pin::new(&mut shop).pinned_blocking().copied();
    let pinned = locks(at_once("Pin<&mut Self> blocking:7"), pinned).await;
    assert_eq!(pinned.unwrap(), 2);
    assert_locks!("future:7", shop.future().await, 2);
}

#[tokio::test]
async fn other_impls() {
    let made = locks("bakery:1", async || Shop::associated(1).await);
    assert_eq!(made.await.unwrap().id, 1);
    let mut shop = Shop {
        id: String::from("north"),
        sold: 0,
    };
    let lengths = locks("generic:north:x", async || {
        let (id, other) = shop.generic('x').await?;
        Ok::<_, AppError>((id.len(), other))
    });
    assert_eq!(lengths.await.unwrap(), (5, 'x'));
    assert_locks!(at_once("other:north"), shop.other(), "north");
}
