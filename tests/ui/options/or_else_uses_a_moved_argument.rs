use lock_runtime::distributed_lock;

#[distributed_lock(key = "a", or_else = |_| name)]
async fn ship(name: String) -> String {
    name
}

fn main() {}
