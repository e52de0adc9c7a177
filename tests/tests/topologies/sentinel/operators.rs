//! What operators see of locks when another primary takes over.

use std::collections::BTreeSet;
use std::time::Duration;

use harness::{RedisSentinels, client};

/// A cursor of the old primary means nothing to the new one.
#[tokio::test]
async fn listing_goes_on_at_the_primary_that_takes_over() {
    let all = RedisSentinels::start();
    let (holder, operator) = (client(all.url()), client(all.url()));
    let mut guards = Vec::new();
    for number in 0..100 {
        let acquire = holder
            .lock(format!("order:{number}"))
            .ttl(Duration::from_secs(900));
        guards.push(acquire.await.unwrap());
    }
    all.wait_for_replication();
    let mut locks = operator.locks().page(10);
    let mut keys = BTreeSet::new();
    for page in 0.. {
        if page == 3 {
            all.fail_over(0);
        }
        match locks.next().await {
            Ok(None) => break,
            Ok(Some(page)) => {
                keys.extend(page.into_iter().map(|state| state.key.as_str().to_owned()))
            }
            // The command was on a connection that broke, or there is no primary for a moment.
            Err(error) => assert!(error.is_unavailable(), "{error}"),
        }
    }
    assert_eq!(keys.len(), 100);
    drop(guards);
}
