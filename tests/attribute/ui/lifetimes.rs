use lock_runtime::{LockError, distributed_lock};

struct Shop(Vec<u8>);

impl Shop {
    #[distributed_lock(key = "shop")]
    async fn elided(&self, other: &[u8]) -> Result<&[u8], LockError> {
        Ok(other)
    }

    #[distributed_lock(key = "shop")]
    fn elided_blocking(&self, other: &[u8]) -> Result<&[u8], LockError> {
        Ok(other)
    }
}

#[distributed_lock(key = "named")]
async fn named<'a, 'b>(a: &'a u8, b: &'b u8) -> Result<&'a u8, LockError> {
    if *a > 1 {
        return Ok(b);
    }
    Ok(a)
}

fn main() {}
