//! Nested calls that cannot be dropped.

use std::sync::mpsc;

use lock_runtime::{LockClient, LockGuard};
use tokio::runtime::{Builder, Handle};

use harness::{KEY, LONG, ms, wait_until};

/// A nested call under a lost hold waits to be dropped with the outer body. A body that blocks its
/// thread for the nested call cannot be dropped, so the call waited for ever.
#[test]
fn a_nested_call_that_its_body_blocks_for_ends_when_the_hold_is_lost() {
    let (tell, told) = mpsc::channel();
    // On a thread of its own, so that the test ends even if the call does not.
    std::thread::spawn(move || {
        let client = LockClient::memory();
        let lease = client.lock(KEY).ttl(ms(100)).renew(false);
        let body = async |guard: &LockGuard| {
            wait_until("end of the lease", LONG, || !guard.is_valid());
            let nested = block_in_place(client.lock(KEY).acquire());
            tell.send(nested.map(drop)).unwrap();
        };
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(lease.run(body))
    });
    let nested = told.recv_timeout(LONG).expect("the nested call ends");
    assert!(nested.unwrap_err().is_lost());
}

#[expect(
    clippy::disallowed_methods,
    reason = "what code does that has only a blocking interface to offer"
)]
fn block_in_place<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| Handle::current().block_on(work))
}
