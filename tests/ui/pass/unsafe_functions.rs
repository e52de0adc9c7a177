// `unsafe` functions: their bodies are what they would be without the attribute.
#![deny(warnings)]

use lock_runtime::{LockClient, LockError, distributed_lock};

#[distributed_lock(key = "a", client = locks)]
unsafe fn blocking(locks: &LockClient, at: *const u8) -> Result<u8, LockError> {
    Ok(unsafe { *at })
}

#[distributed_lock(key = "a", client = locks)]
async unsafe fn asynchronous(locks: &LockClient, at: *const u8) -> Result<u8, LockError> {
    Ok(unsafe { *at })
}

fn main() {
    let locks = LockClient::memory();
    let byte = 7;
    assert_eq!(unsafe { blocking(&locks, &byte) }.unwrap(), 7);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let asynchronous = unsafe { asynchronous(&locks, &byte) };
    assert_eq!(runtime.block_on(asynchronous).unwrap(), 7);
}
