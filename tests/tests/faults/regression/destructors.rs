//! A body's destructors run inside its call tree, however the body ends. A locked function that they
//! call enters the lock, and does not wait for it.
//!
//! When the body was dropped, its destructors ran outside of the tree. Such a call then blocked its
//! thread for a lock that only its own return could have freed.

use std::future::pending;
use std::sync::mpsc;
use std::time::Duration;

use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock, in_current_hold};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use harness::{KEY, LONG, ms};

/// How a body ends early.
#[derive(Clone, Copy, Debug)]
enum End {
    Cancelled,
    Lost,
}

impl End {
    /// The lease of the body.
    fn ttl(self) -> Duration {
        match self {
            End::Cancelled => LONG,
            End::Lost => ms(500),
        }
    }

    /// The answer of a locked function that the body's destructor calls.
    fn told(self) -> Result<(), LockErrorKind> {
        match self {
            End::Cancelled => Ok(()),
            End::Lost => Err(LockErrorKind::Lost),
        }
    }
}

/// Waits for its own lock, which is busy, if it is called outside of the call tree.
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
}

impl Drop for Local {
    fn drop(&mut self) {
        let told = write_down(&self.locks).map_err(|error| error.kind());
        self.told.send(told).expect("the test waits for it");
    }
}

/// The test's half of a [`Local`].
struct Remote {
    told: mpsc::Receiver<Result<(), LockErrorKind>>,
    entered: oneshot::Receiver<()>,
}

impl Remote {
    fn new(locks: &LockClient) -> (Local, Remote) {
        let (tell, told) = mpsc::channel();
        let (enter, entered) = oneshot::channel();
        let local = Local {
            locks: locks.clone(),
            told: tell,
            entered: Some(enter),
        };
        (local, Remote { told, entered })
    }

    /// Ends the body once it has begun, and asserts the answer that its destructor got.
    async fn end<T>(self, end: End, lost: impl Future<Output = ()>, body: JoinHandle<T>) {
        self.entered.await.expect("the body begins");
        match end {
            End::Cancelled => body.abort(),
            End::Lost => lost.await,
        }
        let ended = timeout(LONG, body).await;
        drop(ended.expect("the body is dropped"));
        let told = self.told.try_recv().expect("its local is dropped with it");
        assert_eq!(told, end.told(), "{end:?}");
    }
}

#[distributed_lock(key = "order:42", ttl = ttl, renew = false, client = local.locks)]
async fn attributed(local: Local, ttl: Duration) -> Result<(), LockError> {
    local.stay().await;
    Ok(())
}

#[tokio::test]
async fn destructor_of_a_locked_function_runs_inside_the_call_tree() {
    for end in [End::Cancelled, End::Lost] {
        let (local, remote) = Remote::new(&LockClient::memory());
        let call = tokio::spawn(attributed(local, end.ttl()));
        remote.end(end, async {}, call).await;
    }
}

#[tokio::test]
async fn destructor_of_a_body_runs_inside_the_call_tree() {
    for end in [End::Cancelled, End::Lost] {
        let locks = LockClient::memory();
        let (local, remote) = Remote::new(&locks);
        let lease = locks.lock(KEY).ttl(end.ttl()).renew(false);
        let call = tokio::spawn(async move { lease.run(async move |_| local.stay().await).await });
        remote.end(end, async {}, call).await;
    }
}

#[tokio::test]
async fn destructor_of_a_future_that_a_guard_runs_runs_inside_the_call_tree() {
    for end in [End::Cancelled, End::Lost] {
        let locks = LockClient::memory();
        let (local, remote) = Remote::new(&locks);
        let lease = locks.lock(KEY).ttl(end.ttl()).renew(false);
        let guard = lease.acquire().await.unwrap();
        let call = tokio::spawn(async move { guard.run(local.stay()).await });
        remote.end(end, async {}, call).await;
    }
}

/// A loss does not drop a carried future: the test drops it afterwards.
#[tokio::test]
async fn destructor_of_a_carried_future_runs_inside_the_call_tree() {
    for end in [End::Cancelled, End::Lost] {
        let locks = LockClient::memory();
        let (local, remote) = Remote::new(&locks);
        let lease = locks.lock(KEY).ttl(end.ttl()).renew(false);
        let guard = lease.acquire().await.unwrap();
        let mut carried = None;
        let body = async { carried = Some(in_current_hold(local.stay())) };
        guard.run(body).await.unwrap();
        let carried = tokio::spawn(carried.expect("the body has run"));
        let abort = carried.abort_handle();
        let lost = async {
            guard.lost().await;
            abort.abort();
        };
        remote.end(end, lost, carried).await;
    }
}
