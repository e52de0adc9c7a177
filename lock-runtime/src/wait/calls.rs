//! Whom a grant's message concerns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::owner::Owner;

/// Every owner of a client that has not ended, each with the bell that calls it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    bells: Arc<Mutex<HashMap<Owner, Arc<Notify>>>>,
}

impl Calls {
    /// Makes `owner` known. This must come before its first command: a message about an owner
    /// that is not known is answered by ending it.
    pub(crate) fn register(&self, owner: Owner) -> Registration {
        let bell = Arc::new(Notify::new());
        self.bells().insert(owner, bell.clone());
        Registration {
            calls: self.clone(),
            owner,
            bell,
        }
    }

    /// Calls `owner`; `false` if there is no such one.
    pub(crate) fn call(&self, owner: Owner) -> bool {
        let bells = self.bells();
        let bell = bells.get(&owner);
        bell.inspect(|bell| bell.notify_one()).is_some()
    }

    /// Calls everybody, since messages may have been missed.
    pub(crate) fn call_all(&self) {
        self.bells().values().for_each(|bell| bell.notify_one());
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<Owner, Arc<Notify>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An owner that is known until this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    calls: Calls,
    owner: Owner,
    bell: Arc<Notify>,
}

impl Registration {
    /// Completes when the owner is called, or was since this completed last.
    pub(crate) async fn called(&self) {
        self.bell.notified().await;
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.calls.bells().remove(&self.owner);
    }
}
