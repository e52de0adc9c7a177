use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "account:<from>", keys = ["account:<to>"])]
async fn beside_key(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = [])]
async fn empty_list(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = ["account:<from>", "ledger", "account:<from>"])]
async fn given_twice(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = [account:<from>, account:<to>])]
async fn without_quotes(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = ["account:<from>", "account:<to>"], mode = "read")]
async fn readers(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = ["account:<from>", "account:<to>"], ttl = "3s", retain = "1s")]
async fn retained(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = vec!["account:<from>"])]
async fn template_in_a_vec(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = [
    "shard:0", "shard:1", "shard:2", "shard:3", "shard:4", "shard:5", "shard:6", "shard:7",
    "shard:8", "shard:9", "shard:10", "shard:11", "shard:12", "shard:13", "shard:14", "shard:15",
    "shard:16", "shard:17", "shard:18", "shard:19", "shard:20", "shard:21", "shard:22", "shard:23",
    "shard:24", "shard:25", "shard:26", "shard:27", "shard:28", "shard:29", "shard:30", "shard:31",
    "shard:32"
])]
async fn compact() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = ["account:<from>", "account:<too>"])]
async fn unknown_argument(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

fn main() {}
