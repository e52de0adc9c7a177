use lock_runtime::KeyPart;

#[derive(KeyPart)]
struct Price(f64);

fn main() {}
