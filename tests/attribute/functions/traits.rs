//! Methods of traits: native ones, and those under `#[async_trait]`.

use std::future::Future;

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, at_once, entered, locks, paused, pausing};

type Answer<T = u8> = Result<T, AppError>;

#[allow(async_fn_in_trait)]
trait Native {
    const KIND: &'static str;

    fn id(&self) -> u8;

    async fn declared(&self, n: u8) -> Answer;

    fn future(&self, n: u8) -> impl Future<Output = Answer> + Send;

    #[distributed_lock(key = "native default:<Self::KIND>:<self.id()>")]
    async fn default(&self) -> Answer {
        pausing().await;
        self.declared(0).await
    }

    #[distributed_lock(key = "native default blocking:<self.id()>")]
    fn default_blocking(&mut self) -> Answer<&mut Self> {
        entered(self)
    }
}

struct Shop<T>(T);

impl<T: Sync> Native for Shop<T> {
    const KIND: &'static str = "shop";

    fn id(&self) -> u8 {
        7
    }

    #[distributed_lock(key = "native:<n>")]
    async fn declared(&self, n: u8) -> Answer {
        if n > 0 {
            pausing().await;
        }
        Ok(n)
    }

    #[distributed_lock(key = "native future:<n>")]
    async fn future(&self, n: u8) -> Answer {
        paused(n).await
    }
}

#[tokio::test]
async fn native_methods() {
    let mut shop = Shop(());
    assert_locks!("native:1", shop.declared(1).await, 1);
    assert_locks!("native future:1", shop.future(1).await, 1);
    assert_locks!("native default:shop:7", shop.default().await, 0);
    assert_locks!(
        at_once("native default blocking:7"),
        shop.default_blocking().map(|shop| shop.id()),
        7
    );
}

struct Ledger<T>(T);

#[async_trait::async_trait]
trait Boxed: Sync {
    fn id(&self) -> u8;

    async fn declared(&self, n: u8, pair: (u8, &str)) -> Answer<String>;

    async fn exclusive(&mut self, log: &mut Vec<u8>, times: usize);

    async fn associated(name: &str) -> Answer<String>
    where
        Self: Sized;

    async fn consuming<'a>(self: Box<Self>, text: &'a str) -> Answer<&'a str>;

    #[distributed_lock(key = "boxed default:<self.id()>")]
    async fn default(&self) -> Answer {
        paused(self.id()).await
    }

    #[distributed_lock(key = "boxed blocking:<self.id()>")]
    fn blocking(&self) -> Answer {
        entered(self.id())
    }
}

#[async_trait::async_trait]
impl<T: Send + Sync> Boxed for Ledger<T> {
    fn id(&self) -> u8 {
        7
    }

    #[distributed_lock(key = "boxed:<self.id()>:<n>:<text>")]
    async fn declared(&self, mut n: u8, (m, text): (u8, &str)) -> Answer<String> {
        pausing().await;
        n += m;
        if n == 0 {
            return Err(AppError::Own);
        }
        Ok(format!("{text} {n}"))
    }

    #[distributed_lock(key = "boxed exclusive:<self.id()>:<log.len()>:<times>", or_else = |_| ())]
    async fn exclusive(&mut self, log: &mut Vec<u8>, times: usize) {
        pausing().await;
        log.extend(std::iter::repeat(self.id()).take(times));
    }

    #[distributed_lock(key = "boxed associated:<name>")]
    async fn associated(name: &str) -> Answer<String> {
        paused(name.to_owned()).await
    }

    #[distributed_lock(key = "boxed consuming:<text>")]
    async fn consuming<'a>(self: Box<Self>, text: &'a str) -> Answer<&'a str> {
        paused(text).await
    }
}

#[async_trait::async_trait(?Send)]
trait Local {
    async fn local(&self, shared: std::rc::Rc<u8>) -> Answer;
}

#[async_trait::async_trait(?Send)]
impl Local for Ledger<()> {
    #[distributed_lock(key = "local:<shared>")]
    async fn local(&self, shared: std::rc::Rc<u8>) -> Answer {
        paused(*shared).await
    }
}

#[tokio::test]
async fn methods_under_async_trait() {
    let mut shop: Box<dyn Boxed> = Box::new(Ledger(()));
    assert_locks!("boxed:7:1:x", shop.declared(1, (2, "x")).await, "x 3");
    let mut log = vec![];
    let logging = async || shop.exclusive(&mut log, 2).await;
    locks("boxed exclusive:7:0:2", logging).await;
    assert_eq!(log, [7, 7]);
    assert_locks!(
        "boxed associated:x",
        Ledger::<()>::associated("x").await,
        "x"
    );
    assert_locks!("boxed default:7", shop.default().await, 7);
    assert_locks!(at_once("boxed blocking:7"), shop.blocking(), 7);
    let text = locks("boxed consuming:x", async || {
        let shop: Box<dyn Boxed> = Box::new(Ledger(()));
        shop.consuming("x").await
    });
    assert_eq!(text.await.unwrap(), "x");
    assert_locks!("local:1", Ledger(()).local(1.into()).await, 1);
}
