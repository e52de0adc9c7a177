use lock_runtime::{LockError, distributed_lock};

type Shipping = std::pin::Pin<Box<dyn Future<Output = Result<(), LockError>>>>;

#[distributed_lock(key = "a")]
async fn alias_of_an_async_function() -> Shipping { Box::pin(async { Ok(()) }) }

#[distributed_lock(key = "a")]
fn future_behind_an_alias() -> Shipping { go() }

fn go() -> Shipping { Box::pin(async { Ok(()) }) }

#[distributed_lock(key = "a", or_else = |_| tokio::spawn(async {}))]
fn future_of_another_type() -> tokio::task::JoinHandle<()> { tokio::spawn(async {}) }

fn main() {}
