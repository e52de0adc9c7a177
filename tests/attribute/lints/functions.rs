//! Functions of each kind, with the attribute or without it. `../lints.rs` compares what clippy reports about both.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(feature = "locked")]
use lock_runtime::distributed_lock;
use lock_runtime::{LockClient, LockError};

pub type Answer<T = u8> = Result<T, LockError>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

const LEASE: Duration = Duration::from_secs(3);

pub struct Shop {
    locks: LockClient,
    name: String,
    stock: Arc<Mutex<u8>>,
}

pub struct Order {
    pub id: u8,
    pub lines: Vec<u8>,
}

pub struct Tx;

impl Drop for Tx {
    fn drop(&mut self) {}
}

async fn pause() {
    std::future::ready(()).await;
}

/// The answers of `or_else`.
pub fn described(error: LockError) -> String {
    return error.to_string();
}

pub fn seven(_error: LockError) -> Result<u8, u8> {
    return Err(7);
}

pub fn stop(_error: LockError) -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg_attr(feature = "locked", distributed_lock(key = "order:<id>", ttl = "10s", wait = LEASE))]
pub async fn asynchronous(id: u8) -> Answer {
    pause().await;
    Ok(id)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "order:<id>"))]
pub async fn returning(id: u8) -> Answer {
    if id == 0 {
        return Ok(1);
    }
    pause().await;
    return Ok(id);
}

#[cfg_attr(feature = "locked", distributed_lock(key = "order:<id>", ttl = LEASE, on_lost = "finish"))]
pub fn synchronous(mut id: u8) -> Answer {
    id = id.saturating_add(1);
    if id == 3 {
        return Ok(4);
    }
    Ok(id)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "unit", mode = "read", on_busy = "skip", or_else = |_| ()))]
pub async fn unit() {
    pause().await;
}

#[cfg_attr(feature = "locked", distributed_lock(key = "unit", mode = "write", or_else = drop))]
pub fn unit_blocking(stock: &Mutex<u8>) {
    drop(stock.lock());
}

#[cfg_attr(feature = "locked", distributed_lock(key = "text", or_else = described))]
pub fn text(name: &str) -> String {
    name.to_owned()
}

#[cfg_attr(feature = "locked", distributed_lock(key = "option", on_busy = "skip"))]
pub async fn option(id: u8) -> Answer<Option<u8>> {
    pause().await;
    Ok(Some(id))
}

#[cfg_attr(feature = "locked", distributed_lock(key = String::from("expression"), client = locks, retain = "10ms"))]
pub async fn expression(locks: &LockClient) -> Answer<String> {
    locks.ping().await?;
    Ok("done".to_owned())
}

#[cfg_attr(feature = "locked", distributed_lock(keys = ["<id>:<name>", "<name>", String::from("a")], client = locks))]
pub async fn several(locks: &LockClient, id: u8, name: &str, _tx: Tx) -> Answer {
    locks.ping().await?;
    drop(name.to_owned());
    Ok(id)
}

#[cfg_attr(feature = "locked", distributed_lock(keys = names.iter(), max_hold = "1m"))]
pub fn listed(names: &[String], _tx: Tx) -> Answer<usize> {
    Ok(names.len())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "gpu", permits = 8, take = cards))]
pub async fn permits(cards: u32) -> Answer<u32> {
    pause().await;
    Ok(cards)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "never", or_else = stop))]
pub async fn never() -> ! {
    loop {
        pause().await;
    }
}

#[cfg_attr(feature = "locked", distributed_lock(key = "never", or_else = stop))]
pub fn never_blocking() -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg_attr(
    feature = "locked",
    distributed_lock(key = "<_id>:<_name.len()>", min_hold = "1s")
)]
pub fn underscores(_id: u8, _name: &str) -> Answer<()> {
    Ok(())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "<order.id>"))]
pub async fn destructured(
    order: &Order,
    (first, second): (u8, u8),
    [third, ..]: [u8; 3],
) -> Answer<usize> {
    pause().await;
    Ok(order.lines.len() + usize::from(first) + usize::from(second) + usize::from(third))
}

#[cfg_attr(feature = "locked", distributed_lock(key = "owned", reentrant = false))]
pub async fn owned(order: Order, tx: Tx) -> Answer<Vec<u8>> {
    pause().await;
    drop(tx);
    Ok(order.lines)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "locked"))]
pub async fn mutex(stock: &Mutex<u8>) -> Answer {
    pause().await;
    let count = *stock.lock().unwrap();
    Ok(count)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "locked"))]
pub fn mutex_blocking(stock: &Mutex<u8>) -> Answer {
    let mut stock = stock.lock().unwrap();
    *stock = stock.saturating_add(1);
    Ok(*stock)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "generic"))]
pub async fn generic<T: Clone + Send + Sync, const N: usize>(
    item: &T,
    _text: impl AsRef<str>,
) -> Answer<[T; N]> {
    pause().await;
    Ok(std::array::from_fn(|_| item.clone()))
}

#[cfg_attr(feature = "locked", distributed_lock(key = "lifetime"))]
pub async fn lifetime<'a>(text: &'a str, _other: &str) -> Answer<&'a str> {
    pause().await;
    Ok(text.trim())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "closure"))]
pub fn closure(least: u8) -> Answer<impl Fn(&Order) -> bool> {
    Ok(move |order: &Order| order.id >= least)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "iterator"))]
pub fn iterator(items: &[u8]) -> Answer<impl Iterator<Item = &u8>> {
    Ok(items.iter())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "unsafe"))]
/// # Safety
///
/// None is needed.
pub unsafe fn unsafely(id: u8) -> Answer {
    Ok(id)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "block"))]
pub fn block(id: u8) -> impl Future<Output = Answer> + Send {
    let one = id.saturating_add(1);
    async move {
        pause().await;
        Ok(one)
    }
}

#[cfg_attr(feature = "locked", distributed_lock(key = "pinned"))]
pub fn pinned(stock: &Arc<Mutex<u8>>) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
    let stock = stock.clone();
    Box::pin(async move {
        pause().await;
        let count = *stock.lock().unwrap();
        Ok(count)
    })
}

#[cfg_attr(feature = "locked", distributed_lock(key = "alias"))]
pub fn alias<'a>(text: &'a str) -> BoxFuture<'a, Answer<&'a str>> {
    Box::pin(async move {
        pause().await;
        Ok(text)
    })
}

#[cfg_attr(feature = "locked", distributed_lock(key = "result", or_else = seven))]
pub async fn own_error(id: u8) -> Result<u8, u8> {
    pause().await;
    id.checked_add(1).ok_or(9)
}

#[cfg_attr(feature = "locked", distributed_lock(key = "block bodied"))]
pub async fn matching(id: u8) -> Answer {
    match id {
        0 => Ok(1),
        1 => {
            pause().await;
            Ok(2)
        }
        _ => Ok(3),
    }
}

#[cfg_attr(feature = "locked", distributed_lock(key = "guard", guard = guard, client = locks))]
pub async fn guarded(locks: &LockClient) -> Answer<u64> {
    #[cfg(not(feature = "locked"))]
    let guard = &locks.lock("guard").acquire().await?;
    pause().await;
    Ok(guard.fencing_token().await?.get())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "guard", guard = guard, client = locks))]
pub fn guarded_blocking(locks: &LockClient) -> Answer<u64> {
    #[cfg(not(feature = "locked"))]
    let guard = &locks.lock("guard").acquire_blocking()?;
    Ok(guard.fencing_token_blocking()?.get())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "token", token = token, client = locks))]
pub async fn fenced(locks: &LockClient) -> Answer<u64> {
    #[cfg(not(feature = "locked"))]
    let token = locks.lock("token").acquire().await?.fencing_token().await?;
    pause().await;
    Ok(token.get())
}

#[cfg_attr(feature = "locked", distributed_lock(key = "token", token = token, client = locks))]
pub fn fenced_blocking(locks: &LockClient) -> Answer<u64> {
    #[cfg(not(feature = "locked"))]
    let token = locks
        .lock("token")
        .acquire_blocking()?
        .fencing_token_blocking()?;
    Ok(token.get())
}

impl Shop {
    #[cfg_attr(feature = "locked", distributed_lock(key = "<self.name>", client = self.locks))]
    pub async fn method(&self, id: u8) -> Answer<usize> {
        self.locks.ping().await?;
        Ok(self.name.len() + usize::from(id))
    }

    #[cfg_attr(feature = "locked", distributed_lock(key = "<self.name>", client = self.locks))]
    pub fn method_blocking(&mut self, id: u8) -> Answer<&mut Self> {
        self.name.push(char::from(id));
        Ok(self)
    }

    #[cfg_attr(feature = "locked", distributed_lock(key = "consumed"))]
    pub async fn consumed(mut self) -> Answer<String> {
        pause().await;
        self.name.push('x');
        Ok(self.name.clone())
    }

    #[cfg_attr(feature = "locked", distributed_lock(key = self.name.clone()))]
    pub async fn counted(self: Arc<Self>) -> Answer {
        pause().await;
        let stock = self.stock.lock().unwrap();
        Ok(*stock)
    }
}

#[async_trait::async_trait]
pub trait Service {
    async fn above(&self, id: u8) -> Answer;
    async fn below(&self, name: &str) -> Answer;
    async fn nothing(&self);
}

#[async_trait::async_trait]
impl Service for Shop {
    #[cfg_attr(feature = "locked", distributed_lock(key = "<self.name>", client = self.locks))]
    async fn above(&self, id: u8) -> Answer {
        pause().await;
        Ok(id)
    }

    #[cfg_attr(feature = "locked", distributed_lock(key = "below:<name>"))]
    async fn below(&self, name: &str) -> Answer {
        pause().await;
        drop(name.to_owned());
        Ok(3)
    }

    #[cfg_attr(feature = "locked", distributed_lock(key = "nothing", or_else = drop))]
    async fn nothing(&self) {
        pause().await;
    }
}

#[cfg_attr(feature = "locked", distributed_lock(key = "above instrument:<id>"))]
#[tracing::instrument]
#[allow(
    clippy::implicit_return,
    reason = "the other attribute hides the user's own from clippy"
)]
pub async fn above_instrument(id: u8) -> Answer {
    pause().await;
    Ok(id)
}

#[tracing::instrument]
#[cfg_attr(feature = "locked", distributed_lock(key = "below instrument:<id>"))]
pub async fn below_instrument(id: u8) -> Answer {
    pause().await;
    Ok(id)
}

pub trait Plain {
    fn call(&self, id: u8) -> impl Future<Output = Answer> + Send;
}

impl Plain for Shop {
    #[cfg_attr(feature = "locked", distributed_lock(key = "plain", client = self.locks))]
    async fn call(&self, id: u8) -> Answer {
        pause().await;
        Ok(id)
    }
}
