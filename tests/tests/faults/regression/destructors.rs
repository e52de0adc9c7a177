//! A body's destructors run inside its call tree, however the body ends. A locked function that they
//! call enters the lock, and does not wait for it.
//!
//! When the body was dropped, its destructors ran outside of the tree. Such a call then blocked its
//! thread for a lock that only its own return could have freed.

use std::future::pending;
use std::pin::Pin;
use std::sync::mpsc;
use std::time::Duration;

use lock_runtime::{Acquire, LockClient, LockError, LockErrorKind, distributed_lock};
use tokio::sync::oneshot;
use tokio::time::timeout;

use harness::{KEY, LONG, ms};

/// Waits for its own lock, which is busy, if called outside the call tree.
#[distributed_lock(key = "order:42", wait = "1s", client = locks)]
fn write_down(locks: &LockClient) -> Result<(), LockError> {
    Ok(())
}

/// Calls a locked function when it is dropped.
struct Local {
    locks: LockClient,
    told: mpsc::Sender<Result<(), LockErrorKind>>,
    entered: Option<oneshot::Sender<()>>,
}

impl Local {
    /// A body that has this value as a local and does not end.
    async fn stay(mut self) {
        let entered = self.entered.take().expect("it is called once");
        entered.send(()).expect("the test waits for it");
        pending().await
    }

    fn lease(&self, ttl: Duration) -> Acquire {
        self.locks.lock(KEY).ttl(ttl).renew(false)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let told = write_down(&self.locks).map_err(|error| error.kind());
        self.told.send(told).expect("the test waits for it");
    }
}

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

#[distributed_lock(key = "order:42", ttl = ttl, renew = false, client = local.locks)]
async fn locked_function(local: Local, ttl: Duration) -> Result<(), LockError> {
    local.stay().await;
    Ok(())
}

/// The ways to run a body that does not end.
const WAYS: [fn(Local, Duration) -> Call; 4] = [
    |local, ttl| Box::pin(async move { drop(locked_function(local, ttl).await) }),
    |local, ttl| {
        let call = local.lease(ttl);
        Box::pin(async move { drop(call.run(async move |_| local.stay().await).await) })
    },
    |local, ttl| {
        let lease = local.lease(ttl);
        Box::pin(async move { drop(lease.await.unwrap().run(local.stay()).await) })
    },
    // A loss does not drop a carried future.
    |local, ttl| {
        let lease = local.lease(ttl);
        Box::pin(async move {
            let (guard, mut carried) = (lease.await.unwrap(), None);
            let body = async { carried = Some(lock_runtime::in_current_hold(local.stay())) };
            guard.run(body).await.unwrap();
            tokio::select! {
                () = carried.expect("the body has run") => unreachable!("it stays"),
                () = guard.lost() => {}
            }
        })
    },
];

#[tokio::test]
async fn destructor_of_a_body_runs_inside_its_call_tree() {
    for (number, way) in WAYS.into_iter().enumerate() {
        for (ttl, answer) in [(LONG, Ok(())), (ms(500), Err(LockErrorKind::Lost))] {
            let (tell, told) = mpsc::channel();
            let (enter, entered) = oneshot::channel();
            let local = Local {
                locks: LockClient::memory(),
                told: tell,
                entered: Some(enter),
            };
            let call = tokio::spawn(way(local, ttl));
            entered.await.expect("the body begins");
            // It is cancelled, or loses its lock.
            if answer.is_ok() {
                call.abort();
            }
            let ended = timeout(LONG, call).await;
            drop(ended.expect("the body is dropped"));
            let told = told.try_recv().expect("its local is dropped with it");
            assert_eq!(told, answer, "way {number}");
        }
    }
}
