//! `unsafe` functions: their bodies, and their callers, need the same `unsafe` as without the
//! attribute.

#![allow(unsafe_code, reason = "their bodies and callers need it")]

use lock_runtime::distributed_lock;

use super::check::{AppError, at_once, inside, locks, pausing};

#[distributed_lock(key = "unsafe:<id>")]
async unsafe fn asynchronous(id: u8, at: *const u8) -> Result<u8, AppError> {
    pausing().await;
    // SAFETY: as the caller promises.
    Ok(id + unsafe { *at })
}

#[distributed_lock(key = "unsafe blocking")]
unsafe fn blocking(at: *const u8) -> Result<u8, AppError> {
    inside();
    if at.is_null() {
        return Err(AppError::Own);
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { *at })
}

#[distributed_lock(key = "unsafe extern", or_else = |_| 0)]
unsafe extern "C-unwind" fn foreign(at: *const u8) -> u8 {
    inside();
    // SAFETY: as the caller promises.
    unsafe { *at }
}

// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
#[distributed_lock(key = "no_mangle", or_else = |_| 0)]
pub extern "C-unwind" fn lock_functions_exported(n: u8) -> u8 {
    inside();
    n
}

/// # Safety
///
/// None is needed.
unsafe trait Trusted {
    /// # Safety
    ///
    /// `at` can be read.
    unsafe fn read(&self, at: *const u8) -> Result<u8, AppError>;
}

// SAFETY: it promises nothing.
unsafe impl Trusted for () {
    #[distributed_lock(key = "unsafe method")]
    unsafe fn read(&self, at: *const u8) -> Result<u8, AppError> {
        inside();
        // SAFETY: as the caller promises.
        Ok(unsafe { *at })
    }
}

#[tokio::test]
async fn unsafe_functions() {
    let byte = 7;
    // SAFETY: the pointer is a reference.
    let read = locks("unsafe:1", async || unsafe { asynchronous(1, &byte) }.await);
    assert_eq!(read.await.unwrap(), 8);
    // SAFETY: the pointer is a reference.
    let read = locks(at_once("unsafe blocking"), async || unsafe {
        blocking(&byte)
    })
    .await;
    assert_eq!(read.unwrap(), 7);
    // SAFETY: the pointer is a reference.
    let read = locks(at_once("unsafe extern"), async || unsafe { foreign(&byte) }).await;
    assert_eq!(read, 7);
    let pointer: extern "C-unwind" fn(u8) -> u8 = lock_functions_exported;
    let n = locks(at_once("no_mangle"), async || pointer(7)).await;
    assert_eq!(n, 7);
    // SAFETY: the pointer is a reference.
    let read = locks(at_once("unsafe method"), async || unsafe { ().read(&byte) }).await;
    assert_eq!(read.unwrap(), 7);
}
