//! How far an attempt to connect came.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::address::Address;
use crate::background::sync::Mutex;

/// How far an attempt to connect came, for the caller that made it and may have stopped waiting for it.
#[derive(Default)]
pub(super) struct AttemptProgress {
    /// Whether a server accepted the connection.
    pub(super) is_reached: AtomicBool,
    server: Mutex<Option<Arc<str>>>,
}

impl AttemptProgress {
    /// Notes the server that is tried now, and returns its name in reports.
    pub(super) fn begin(&self, address: &Address) -> Arc<str> {
        let server: Arc<str> = address.to_string().into();
        *self.server.lock() = Some(server.clone());
        server
    }

    /// The server that was tried last, if it was known where one is.
    pub(super) fn server(&self) -> Option<Arc<str>> {
        self.server.lock().clone()
    }
}
