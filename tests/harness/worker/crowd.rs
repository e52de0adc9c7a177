//! Many locks, or many callers of one lock.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use tokio::task::{JoinSet, LocalSet};

use super::locks::{Call, Held, Locks};
use super::visit::{Manner, Visit};

/// `callers` tasks ask for one lock, one after the other, and visit the resource in their turn.
/// Returns `crowded N` if they were served in the order in which they asked, and the exception
/// otherwise.
pub(crate) async fn crowd(
    locks: &impl Locks,
    resource: &MultiplexedConnection,
    call: &Call,
    callers: usize,
) -> String {
    let served = Rc::new(RefCell::new(Vec::new()));
    // On one thread tasks begin in the order in which they were spawned.
    let one_thread = LocalSet::new();
    let mut tasks = JoinSet::new();
    for caller in 0..callers {
        let (locks, call, served) = (locks.clone(), call.clone(), served.clone());
        let visit = Visit::new(&call.name, resource, Manner::Brisk, locks.mode());
        let turn = async move {
            let held = locks.acquire(&call).await?;
            served.borrow_mut().push(caller);
            let written = visit.make(held.token()).await;
            assert!(written.expect("the resource is there"), "a stale write");
            held.release().await
        };
        tasks.spawn_local_on(turn, &one_thread);
    }
    one_thread.await;
    while let Some(turn) = tasks.join_next().await {
        if let Err(words) = turn.expect("no turn panics") {
            return format!("failed {words}");
        }
    }
    let served = served.borrow();
    match served.windows(2).find(|pair| pair[0] > pair[1]) {
        Some(pair) => format!("{} was served before {}", pair[0], pair[1]),
        None => format!("crowded {}", served.len()),
    }
}

/// The number of callers that acquire or release many locks together.
const CALLERS: usize = 100;

/// Makes all these calls, and keeps the locks.
pub(crate) async fn many<L: Locks>(
    locks: &L,
    calls: impl Iterator<Item = Call>,
) -> Result<Vec<L::Held>, String> {
    let mut callers = JoinSet::new();
    let calls = Arc::new(calls.collect::<Vec<_>>());
    for caller in 0..CALLERS {
        let (locks, calls) = (locks.clone(), calls.clone());
        callers.spawn(async move {
            let mut own = Vec::new();
            for call in calls.iter().skip(caller).step_by(CALLERS) {
                own.push(locks.acquire(call).await?);
            }
            Ok::<_, String>(own)
        });
    }
    let outcomes = callers.join_all().await;
    let all: Result<Vec<_>, _> = outcomes.into_iter().collect();
    all.map(|all| all.into_iter().flatten().collect())
}

pub(crate) async fn release_all<H: Held>(mut all: Vec<H>) -> Result<(), String> {
    let mut callers = JoinSet::new();
    while !all.is_empty() {
        let own = all.split_off(all.len().saturating_sub(CALLERS));
        callers.spawn(async move {
            for held in own {
                held.release().await?;
            }
            Ok::<_, String>(())
        });
    }
    callers.join_all().await.into_iter().collect()
}

/// Acquires and releases a lock repeatedly.
pub(crate) async fn cycle(locks: &impl Locks, call: &Call, times: usize) -> Result<(), String> {
    for _ in 0..times {
        locks.acquire(call).await?.release().await?;
    }
    Ok(())
}
