use lock_runtime::distributed_lock;

#[distributed_lock(key = "a", or_else = |_| tokio::spawn(async {}))]
fn ship() -> tokio::task::JoinHandle<()> {
    tokio::spawn(async {})
}

fn main() {}
