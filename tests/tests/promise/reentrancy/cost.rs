//! The cost of nesting: no command.

use harness::RedisServer;
use lock_runtime::{LockClient, LockGuard};

use super::at_once;

#[tokio::test]
async fn nesting_sends_nothing() {
    let server = RedisServer::start();
    let client = LockClient::connect(&server.url()).await.unwrap();
    // The server then knows the scripts.
    at_once(&client).run(async |_| ()).await.unwrap();
    let mut monitor = server.monitor();

    let body = async |_: &LockGuard| {
        assert_eq!(monitor.take().len(), 1, "acquire");
        for _ in 0..10 {
            let nested = at_once(&client).acquire().await.unwrap();
            nested.release().await.unwrap();
            at_once(&client).run(async |_| ()).await.unwrap();
            at_once(&client).run_blocking(|_| ()).unwrap();
            let strict = at_once(&client).reentrant(false);
            assert!(strict.acquire().await.unwrap_err().is_reentered());
        }
        assert_eq!(monitor.take(), []);
    };
    at_once(&client).run(body).await.unwrap();
    assert_eq!(monitor.take().len(), 1, "release");
}
