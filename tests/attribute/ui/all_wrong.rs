use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(
    kay = "a",
    key = "<id>-<n>:{id}",
    ttl = 10,
    wait = "2 secs",
    max_hold = "0s",
    renew = "yes",
    on_busy = "skp",
    on_lost = "abort",
    guard = "lock",
    permits = 0,
    mode = "shared",
    timeout = "1s",
    ttl = "1s",
)]
async fn ship(id: u64, n: u64) -> Result<(), LockError> {
    Ok(())
}

fn callers_still_compile() {
    let _ = ship(1, 2);
}

fn main() {}
