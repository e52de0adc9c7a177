use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<id>")]
async fn ship(id: u64) -> Result<u64, LockError> {
    if id == 0 {
        return Ok("zero");
    }
    let text: String = id;
    Ok(text)
}

#[distributed_lock(key = "order:<id>")]
fn ship_blocking(id: u64) -> Result<u64, LockError> {
    missing(id);
    Ok(id.nope())
}

fn main() {}
