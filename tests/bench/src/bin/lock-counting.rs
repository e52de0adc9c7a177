//! Counts what needs a hook in each allocation. `lock-bench` runs it:
//!
//! - `attribute URL`: the allocations of a call by attribute, without and with a token, and by hand
//! - `held URL COUNT MILLIS`: with that many locks held, the bytes that were allocated for each, and the part of a core
//!   that its background thread uses during MILLIS

#[path = "../shipping.rs"]
mod shipping;

use std::alloc::System;
use std::env;
use std::fs;
use std::process;
use std::time::{Duration, Instant};

use lock_runtime::{LockClient, LockError, LockGuard, distributed_lock};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::task::JoinSet;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The calls over which the mean is taken.
const CALLS: u32 = 1_000;

/// The number of callers that acquire many locks together.
const CALLERS: usize = 100;

const TTL: Duration = Duration::from_secs(30);
const WAIT: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["attribute", url] => attribute(&client(url).await).await,
        ["held", url, count, millis] => {
            let count = count.parse().expect("it is a number");
            held(&client(url).await, count, time(millis)).await;
        }
        _ => panic!("lock-bench knows how to ask"),
    }
}

async fn client(url: &str) -> LockClient {
    let builder = LockClient::builder().url(url).ttl(TTL).wait(WAIT);
    builder.connect().await.expect("the server is there")
}

async fn attribute(client: &LockClient) {
    let by_attribute = allocations(async || {
        let shipped = shipping::by_attribute(client, 42).await;
        shipped.expect("the lock is free");
    });
    let by_attribute = by_attribute.await;
    let with_token = allocations(async || {
        let shipped = with_token(client, 42).await;
        shipped.expect("the lock is free");
    });
    let with_token = with_token.await;
    let by_hand = allocations(async || {
        let shipped = shipping::by_hand(client, 42).await;
        shipped.expect("the lock is free");
    });
    println!("{by_attribute} {with_token} {}", by_hand.await);
}

#[distributed_lock(key = "order:<id>", client = client, token = token)]
async fn with_token(client: &LockClient, id: u64) -> Result<u64, LockError> {
    Ok(id ^ token.get())
}

/// The number of allocations of a call, on any thread.
async fn allocations(call: impl AsyncFn()) -> f64 {
    for _ in 0..CALLS {
        call().await;
    }
    let region = Region::new(COUNTING);
    for _ in 0..CALLS {
        call().await;
    }
    let made = region.change();
    let made = u32::try_from(made.allocations + made.reallocations).expect("they are few");
    f64::from(made) / f64::from(CALLS)
}

async fn held(client: &LockClient, count: usize, watch: Duration) {
    // Grows what is created once, and the list of the guards.
    take(client, "before", CALLERS).await;
    let mut guards = Vec::with_capacity(count);
    let region = Region::new(COUNTING);
    guards.extend(take(client, "held", count).await);
    let change = region.change();
    let allocated = change.bytes_allocated - change.bytes_deallocated;

    let (start, busy) = (Instant::now(), background());
    tokio::time::sleep(watch).await;
    let busy = background() - busy;
    let part = busy.as_secs_f64() / start.elapsed().as_secs_f64();
    let valid = guards.iter().all(LockGuard::is_valid);
    assert!(valid, "a lock was lost while it was held");
    println!("{} {part}", allocated / count);
    // The server ends with the process that started this one, so the releases may be skipped.
    process::exit(0);
}

/// That many locks, `NAME:0` and so on.
async fn take(client: &LockClient, name: &'static str, count: usize) -> Vec<LockGuard> {
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS.min(count) {
        let client = client.clone();
        callers.spawn(async move {
            let mut own = Vec::with_capacity(count.div_ceil(CALLERS));
            for n in (caller..count).step_by(CALLERS) {
                let guard = client.lock(format!("{name}:{n}")).acquire().await;
                own.push(guard.expect("the lock is free"));
            }
            own
        });
    }
    callers.join_all().await.into_iter().flatten().collect()
}

/// The CPU time so far of the background thread.
fn background() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    let nanos = tasks.filter_map(|task| {
        let read = |file| fs::read_to_string(task.as_ref().ok()?.path().join(file)).ok();
        // The first number is the time on a core. A thread that ends meanwhile has no such file.
        let is_background = read("comm")?.trim() == "lock-background";
        let nanos = read("schedstat")?.split(' ').next()?.parse::<u64>().ok();
        nanos.filter(|_| is_background)
    });
    Duration::from_nanos(nanos.sum())
}

fn time(millis: &str) -> Duration {
    Duration::from_millis(millis.parse().expect("it is a number"))
}
