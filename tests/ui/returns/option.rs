use lock_runtime::distributed_lock;

#[distributed_lock(key = "order:<id>", on_busy = "skip")]
async fn ship(id: u64) -> Option<u8> {
    None
}

fn main() {}
