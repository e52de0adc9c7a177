//! Where a connection may be driven: on the keeper, or on the runtime that its client was made in.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::Handle;

use crate::keeper::Keeper;

/// The two runtimes of a client, and who needs its connection to be on the keeper.
pub(crate) struct Homes {
    pub(super) keeper: Keeper,
    /// The client's own runtime; `None` if the connection is to stay on the keeper.
    guest: Option<Handle>,
    needs: AtomicUsize,
}

/// Where somebody is who sends a command.
pub(super) enum Here<'a> {
    /// On the keeper.
    Keeper,
    /// On the client's runtime.
    Guest(&'a Handle),
    /// Wherever the connection is driven, the answer has to cross over.
    Elsewhere,
}

impl Homes {
    /// `guest` is a runtime with I/O.
    pub(crate) fn new(keeper: Keeper, guest: Option<Handle>) -> Homes {
        Homes {
            keeper,
            guest,
            needs: AtomicUsize::new(0),
        }
    }

    pub(super) fn here(&self) -> Here<'_> {
        let Some(guest) = &self.guest else {
            // It never leaves the keeper, so nobody has to call it back.
            return Here::Elsewhere;
        };
        match Handle::try_current().map(|handle| handle.id()) {
            Ok(id) if id == self.keeper.id() => Here::Keeper,
            Ok(id) if id == guest.id() => Here::Guest(guest),
            _ => Here::Elsewhere,
        }
    }

    /// From now on no connection leaves the keeper. One that is away has to be called home.
    pub(super) fn need(self: &Arc<Homes>) -> Need {
        self.needs.fetch_add(1, Ordering::SeqCst);
        Need {
            homes: self.clone(),
        }
    }

    pub(super) fn is_needed(&self) -> bool {
        self.needs.load(Ordering::SeqCst) > 0
    }
}

/// Keeps the connection on the keeper until it is dropped.
#[must_use = "the connection may leave as soon as this is dropped"]
pub(crate) struct Need {
    homes: Arc<Homes>,
}

impl Drop for Need {
    fn drop(&mut self) {
        self.homes.needs.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The runtime that this is called in, if there is one.
///
/// # Panics
///
/// If it was built without I/O: nothing but a panic of tokio's tells that, and it is better had now
/// than when a connection moves there.
#[cfg(unix)]
pub(crate) fn guest() -> Option<Handle> {
    let handle = Handle::try_current().ok()?;
    // Registers with the reactor, and that is all.
    tokio::net::UnixDatagram::unbound().ok()?;
    Some(handle)
}

/// Elsewhere sockets belong for good to the reactor that they are registered with first.
#[cfg(not(unix))]
pub(crate) fn guest() -> Option<Handle> {
    None
}
