use lock_runtime::{KeyPart, LockError, distributed_lock};

#[derive(KeyPart)]
#[key_part(rename_all = "kebab-case")]
enum Region {
    FarNorth,
}

#[derive(KeyPart)]
#[key_part(rename = "order")]
struct OrderId(u64);

#[derive(KeyPart)]
struct Order {
    id: u64,
    region: String,
}

#[distributed_lock(key = "order:<order>")]
async fn several_fields(order: &Order) -> Result<(), LockError> { Ok(()) }

#[derive(KeyPart)]
enum Place {
    North,
    #[key_part(rename = "North")]
    South,
}

#[derive(KeyPart)]
enum Kind {
    North,
    Other(String),
}

fn main() {}
