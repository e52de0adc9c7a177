//! A server far away.
//!
//! A connection takes several round trips, so its waiters had too little time left for an answer. Two timeouts closed
//! the connection again, and so on.

use harness::{LONG, ms, patient, server_and_proxy};
use tokio::task::JoinSet;

const CALLERS: usize = 8;

#[tokio::test]
async fn several_callers_reach_a_server_that_is_far_away() {
    let (_server, proxy) = server_and_proxy();
    // Two round trips make a connection, and the command timeout ends before the third.
    proxy.replies(harness::Mode::Delay(ms(420)));
    let client = patient(proxy.url()).build().unwrap();
    let mut callers = JoinSet::new();
    for n in 0..CALLERS {
        let lock = client.lock(format!("far:{n}")).ttl(LONG).wait(LONG);
        callers.spawn(async move { lock.acquire().await });
    }
    for guard in callers.join_all().await {
        drop(guard.expect("the server answers within the time of a command"));
    }
}
