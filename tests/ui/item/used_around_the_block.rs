use lock_runtime::{LockError, distributed_lock};
use tracing::Instrument as _;

#[distributed_lock(key = "order:<id>")]
fn ship(id: u64) -> impl Future<Output = Result<u64, LockError>> {
    let span = tracing::info_span!("ship", id);
    async move { Ok(id) }.instrument(span)
}

fn main() {}
