//! A caller that waits behind the head of its line.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use crate::backend::wire::Wire;
use crate::backend::{Delivery, Request};
use crate::error::LockError;
use crate::remote::Remote;
use crate::wait::line::Place;

/// The way back to a caller.
pub(crate) type Reply<W> = oneshot::Sender<Outcome<W>>;

/// What a call comes to.
pub(crate) type Outcome<W> = Result<Delivery<Remote<W>>, LockError>;

/// What a caller leaves in line: what it wants, and where to bring it. Whoever has the turn acts
/// for it, so that nobody behind has to wait for a caller that is busy.
pub(crate) struct Seat<W: Wire> {
    pub(crate) request: Request,
    /// When its wait is over.
    pub(crate) until: Instant,
    pub(crate) reply: Reply<W>,
}

/// The caller of a seat. It gives its place up when this is dropped.
pub(crate) struct Seated<W: Wire> {
    remote: Arc<Remote<W>>,
    lock: Arc<str>,
    place: Option<Place>,
    outcome: oneshot::Receiver<Outcome<W>>,
}

impl<W: Wire> Seated<W> {
    /// Takes the last place in the line of a lock.
    pub(crate) fn sit(remote: &Arc<Remote<W>>, request: Request, until: Instant) -> Seated<W> {
        let (reply, outcome) = oneshot::channel();
        let lock = request.names.lock.clone();
        let seat = Seat {
            request,
            until,
            reply,
        };
        let place = Some(remote.lines().join(&lock, seat));
        Seated {
            remote: remote.clone(),
            lock,
            place,
            outcome,
        }
    }

    /// Waits for what its turn comes to.
    pub(crate) async fn served(&mut self) -> Option<Outcome<W>> {
        (&mut self.outcome).await.ok()
    }

    /// Gives the place up. `None` if it was called before.
    pub(crate) fn stand_up(&mut self) -> Option<Request> {
        let place = self.place.take()?;
        let seat = self.remote.lines().leave(&self.lock, place);
        seat.map(|seat| seat.request)
    }
}

impl<W: Wire> Drop for Seated<W> {
    fn drop(&mut self) {
        self.stand_up();
    }
}
