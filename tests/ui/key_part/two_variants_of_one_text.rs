use lock_runtime::KeyPart;

#[derive(KeyPart)]
enum Region {
    North,
    #[key_part(rename = "North")]
    South,
}

fn main() {}
