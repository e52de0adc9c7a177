use lock_runtime::KeyPart;

struct PhantomData(u64);

#[derive(KeyPart)]
struct Id(u64, PhantomData);

fn main() {}
