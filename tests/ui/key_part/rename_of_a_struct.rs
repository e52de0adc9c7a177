use lock_runtime::KeyPart;

#[derive(KeyPart)]
#[key_part(rename = "order")]
struct OrderId(u64);

fn main() {}
