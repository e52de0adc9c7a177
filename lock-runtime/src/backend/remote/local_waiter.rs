//! A caller that waits behind the head of its line.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use crate::backend::remote::Remote;
use crate::backend::remote::local_queue::Place;
use crate::backend::remote::local_turns;
use crate::backend::remote::news::News;
use crate::backend::remote::reaper;
use crate::backend::wire::Wire;
use crate::backend::{Delivery, Request};
use crate::background::offload::{Errand, Runner};
use crate::error::LockError;
use crate::key::LockName;

/// The way back to a caller.
pub(crate) type Reply<W> = oneshot::Sender<Outcome<W>>;

/// What a call comes to.
pub(crate) type Outcome<W> = Result<Delivery<Remote<W>>, LockError>;

/// What a caller leaves in line: what it wants, and where to bring it.
pub(crate) struct Seat<W: Wire> {
    pub(crate) request: Request,
    /// When its wait is over.
    pub(crate) until: Instant,
    pub(crate) reply: Reply<W>,
    /// Where to leave what is to be done for it: nobody behind has to wait for a caller that is busy.
    pub(crate) errand: Arc<Errand>,
}

/// The caller of a seat. It gives its place up when this is dropped.
pub(crate) struct Seated<W: Wire> {
    remote: Arc<Remote<W>>,
    lock: LockName,
    place: Option<Place>,
    outcome: oneshot::Receiver<Outcome<W>>,
    runner: Runner,
}

/// Where a call begins.
pub(crate) enum Entrance<W: Wire> {
    /// At the head of a line that nobody was in.
    Head(Request),
    /// Behind it.
    Line(Seated<W>),
    /// Beside it: it has no time to wait.
    Beside(Request),
    /// It has the lock, by a lease that was retained.
    Held(Delivery<Remote<W>>),
}

impl<W: Wire> Entrance<W> {
    /// Becomes the head of a line, or takes its last place: in one step, or the line could end in
    /// between, and somebody would wait behind a head that is not there.
    pub(crate) fn of(remote: &Arc<Remote<W>>, request: Request, until: Instant) -> Entrance<W> {
        let mut lines = remote.lines();
        if lines.head(&request.names.lock).is_none() {
            return Entrance::Head(request);
        }
        if let Some(delivery) = local_turns::resume(remote, &mut lines, &request) {
            drop(lines);
            remote.look_if_needed();
            return Entrance::Held(delivery);
        }
        let retained = remote.roster().retained.remove(&request.names.lock);
        if let Some(mut tenure) = retained {
            // Nobody waits behind it. What this caller sends follows the end on the same connection.
            tenure.heads_line = false;
            drop(lines);
            reaper::release_unheard(remote, tenure);
            return Entrance::Head(request);
        }
        let Some(tail) = lines.head(&request.names.lock) else {
            return Entrance::Head(request);
        };
        if request.wait.is_zero() {
            return Entrance::Beside(request);
        }
        let (reply, outcome) = oneshot::channel();
        let runner = remote.runner();
        let lock = request.names.lock.clone();
        let seat = Seat {
            request,
            until,
            reply,
            errand: runner.errand().clone(),
        };
        let place = Some(tail.join(seat));
        Entrance::Line(Seated {
            remote: remote.clone(),
            lock,
            place,
            outcome,
            runner,
        })
    }
}

impl<W: Wire> Seated<W> {
    /// Waits for what its turn comes to.
    pub(crate) async fn served(&mut self) -> Option<Outcome<W>> {
        let outcome = self.runner.wait_for(&mut self.outcome).await;
        // Whoever is served stands in no line any more.
        self.place = None;
        self.runner.expects_nothing();
        outcome
    }

    /// Is gone without having given its place up, as one whose seat was called at that moment.
    #[cfg(test)]
    pub(crate) fn goes_unseen(mut self) {
        self.place = None;
    }

    /// Its time is up: leaves with what is known at the head, or stays to hear that.
    pub(crate) fn time_is_up(&mut self) -> Option<News> {
        let mut lines = self.remote.lines();
        let Some(news) = lines.news(&self.lock) else {
            lines.stay(&self.lock);
            return None;
        };
        // Called at that moment, it is served soon.
        lines.leave(&self.lock, self.place?)?;
        self.place = None;
        Some(news)
    }

    /// Gives the place up. `false` if it was called before.
    pub(crate) fn stand_up(&mut self) -> bool {
        let place = self.place.take();
        let left = place.and_then(|place| self.remote.lines().leave(&self.lock, place));
        left.is_some()
    }
}

impl<W: Wire> Drop for Seated<W> {
    fn drop(&mut self) {
        // In a forked child another thread may have held the mutex when the process was forked.
        if self.place.is_some() && self.remote.check_process().is_ok() {
            self.stand_up();
        }
    }
}
