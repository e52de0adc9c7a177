use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:#id")]
async fn hash_sign(id: u64) -> Result<u64, LockError> { Ok(id) }

#[distributed_lock(key = "order:<<id>>")]
async fn doubled_brackets(id: u64) -> Result<u64, LockError> { Ok(id) }

#[distributed_lock(key = "order:{id}")]
async fn literal_braces(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:%s")]
async fn percent_sign(id: u64) -> Result<u64, LockError> { Ok(id) }

#[distributed_lock(key = "order:{}", id)]
async fn format_arguments(id: u64) -> Result<u64, LockError> { Ok(id) }

#[distributed_lock(key = format!("order:<id>"))]
async fn template_in_an_expression(id: u64) -> Result<(), LockError> { Ok(()) }

fn main() {}
