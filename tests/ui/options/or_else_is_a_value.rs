use lock_runtime::distributed_lock;

#[distributed_lock(key = "order:<id>", or_else = Ok(0))]
async fn ship(id: u64) -> Result<u64, String> {
    Ok(id)
}

fn main() {}
