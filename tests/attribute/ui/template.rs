use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<order.id().await>")]
async fn awaits(order: &str) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order->:<id>")]
async fn closes_nothing(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "")]
async fn empty(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<>")]
async fn empty_placeholder(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:{}:<id>")]
async fn empty_tag(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id:08>")]
async fn format_specification(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<type>")]
async fn keyword(r#type: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id")]
async fn never_closed(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<self.id>")]
async fn no_self(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id + 1>")]
async fn no_value(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<order.id()?>")]
async fn question_mark(order: &str) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "{order}:<id>:f")]
async fn reserved_suffix(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<tenant><id>")]
async fn run_together(tenant: u64, id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order}:<id>")]
async fn stray_brace(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<oid>")]
async fn unknown_argument(order_id: u64) -> Result<(), LockError> { Ok(()) }

fn main() {}
