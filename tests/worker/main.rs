//! `lock-worker LOCKS RESOURCE`: a process that uses locks as told, for tests that kill it. See
//! [`harness::serve`].

use std::env;

#[tokio::main]
async fn main() {
    let mut args = env::args().skip(1);
    let (Some(locks), Some(resource)) = (args.next(), args.next()) else {
        panic!("usage: lock-worker LOCKS RESOURCE");
    };
    harness::serve(&locks, &resource).await;
}
