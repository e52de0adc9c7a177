use lock_runtime::KeyPart;

#[derive(KeyPart)]
enum Region {
    North,
    Other(String),
}

fn main() {}
