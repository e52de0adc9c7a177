//! `lock-worker LOCKS RESOURCE [KIND]`: a process that uses locks on command, for tests that kill
//! it. See [`harness::serve`].

use std::env;

#[tokio::main]
async fn main() {
    let mut args = env::args().skip(1);
    let (Some(locks), Some(resource)) = (args.next(), args.next()) else {
        panic!("usage: lock-worker LOCKS RESOURCE [KIND]");
    };
    let kind = args.next().unwrap_or_else(|| "ours".to_owned());
    let kind = harness::Kind::parse(&kind).unwrap_or_else(|| panic!("no such client: {kind}"));
    harness::serve(&locks, &resource, kind).await;
}
