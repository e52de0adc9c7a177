//! The expansion of `assert_locked!`.

use super::spec::ClientRef;
use crate::client::{Claim, LockClient};
use crate::key::LockKey;

/// Panics unless the current call tree holds the lock of the client of `client = …`.
///
/// # Panics
///
/// If it does not.
#[track_caller]
pub fn assert_locked<C: ClientRef + ?Sized>(client: &C, key: &LockKey, claim: Claim) {
    client.client().assert_held(key, claim);
}

/// Like [`assert_locked`], with the installed client.
///
/// # Panics
///
/// Also if no client is installed.
#[track_caller]
pub fn assert_locked_installed(key: &LockKey, claim: Claim) {
    match LockClient::installed() {
        Ok(client) => client.assert_held(key, claim),
        Err(error) => panic!("`{key}` is not locked here: {error}"),
    }
}
