//! A lottery that must be drawn once, although every instance of the service starts a draw.

use lock_runtime::distributed_lock;
use tokio::sync::Barrier;

use super::{LockClient, LockError, RedisServer, client};

const INSTANCES: usize = 6;

/// The winner holds the lock until every instance has tried, for longer than clocks differ.
#[distributed_lock(key = "lottery:<day>", wait = "0s", on_busy = "skip", client = locks)]
async fn draw(locks: &LockClient, day: &str, tried: &Barrier) -> Result<Option<()>, LockError> {
    tried.wait().await;
    Ok(Some(()))
}

#[tokio::test]
async fn one_of_many_instances_draws_and_the_rest_go_on() {
    let server = RedisServer::start();
    let tried = Barrier::new(INSTANCES);
    let instance = async || {
        let locks = client(server.url());
        let drew = draw(&locks, "monday", &tried)
            .await
            .expect("busy is no error");
        if drew.is_none() {
            tried.wait().await;
        }
        usize::from(drew.is_some())
    };
    let (a, b, c, d, e, f) = tokio::join!(
        instance(),
        instance(),
        instance(),
        instance(),
        instance(),
        instance(),
    );
    assert_eq!(a + b + c + d + e + f, 1);
}
