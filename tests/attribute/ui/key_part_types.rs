use lock_runtime::KeyPart;

#[derive(KeyPart)]
struct Price(f64);

struct PhantomData(u64);

#[derive(KeyPart)]
struct Id(u64, PhantomData);

fn main() {}
