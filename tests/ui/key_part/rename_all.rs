use lock_runtime::KeyPart;

#[derive(KeyPart)]
#[key_part(rename_all = "kebab-case")]
enum Region {
    FarNorth,
}

fn main() {}
