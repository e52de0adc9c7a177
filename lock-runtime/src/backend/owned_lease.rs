//! The ownership of what a backend granted.

use std::ops::Deref;
use std::sync::Arc;

use crate::backend::Released;
use crate::backend::Request;
use crate::backend::admission::Gate;
use crate::backend::any::Engine;
use crate::background::in_flight::Counted;
use crate::background::moment::Moment;
use crate::error::LockError;
use crate::lease::{Hold, Loss};
use crate::telemetry::Holding;

/// The duty to give a lock back: whoever drops the last of it, releases.
#[derive(Debug)]
pub(crate) struct Held {
    /// `Some` until it is given back.
    hold: Option<Arc<Hold>>,
    engine: Engine,
    /// `Some` from the hand-over to the end.
    holding: Option<Holding>,
    _inside: Counted,
}

impl Held {
    pub(crate) async fn acquire(
        engine: &Engine,
        gate: &Arc<Gate>,
        request: Request,
    ) -> Result<Held, LockError> {
        let inside = gate.enter(&request.key)?;
        let key = request.key.clone();
        let hold = gate.unless_closed(&key, engine.acquire(request)).await?;
        Ok(Held::new(engine, inside, hold))
    }

    /// For callers that block their thread; they may stand inside a runtime or not.
    pub(crate) fn acquire_blocking(
        engine: &Engine,
        gate: &Arc<Gate>,
        request: Request,
    ) -> Result<Held, LockError> {
        let inside = gate.enter(&request.key)?;
        let hold = engine.acquire_blocking(gate, request)?;
        Ok(Held::new(engine, inside, hold))
    }

    fn new(engine: &Engine, inside: Counted, hold: Arc<Hold>) -> Held {
        Held {
            hold: Some(hold),
            engine: engine.clone(),
            holding: None,
            _inside: inside,
        }
    }

    /// The caller has it from now on.
    pub(crate) fn handed_over(&mut self, now: Moment) {
        self.engine.handed_over(self);
        self.holding = Some(Holding::begin(self, now));
    }

    pub(crate) async fn renew(&self) -> Result<(), LockError> {
        self.engine.renew(self.shared()).await
    }

    /// Gives the lock back. `Ok` if it was held until `ended`, and nothing disproved it.
    ///
    /// Dropped half-way, the release goes on in the background.
    pub(crate) async fn release(self, ended: Moment) -> Result<(), LockError> {
        let parting = Parting::of(self.shared(), ended);
        let released = self.engine.release(parting.hold.clone()).await;
        self.part(parting, released)
    }

    /// As [`release`](Held::release), blocking the thread.
    pub(crate) fn release_blocking(self, ended: Moment) -> Result<(), LockError> {
        let parting = Parting::of(self.shared(), ended);
        let released = self.engine.release_blocking(parting.hold.clone());
        self.part(parting, released)
    }

    fn part(mut self, parting: Parting, released: Released) -> Result<(), LockError> {
        self.hold = None;
        let outcome = parting.outcome(released);
        let Parting { hold, ended, .. } = parting;
        if let Some(holding) = self.holding.take() {
            holding.end(&hold, outcome.unwrap_or("lost"), ended);
        }
        outcome.map(drop).map_err(|loss| hold.lost_error(loss))
    }

    pub(crate) fn shared(&self) -> Arc<Hold> {
        self.hold
            .clone()
            .expect("it is taken only when this is given back")
    }
}

/// What was known of a hold when its holder was done.
struct Parting {
    hold: Arc<Hold>,
    ended: Moment,
    in_time: bool,
    loss: Option<Loss>,
}

impl Parting {
    fn of(hold: Arc<Hold>, ended: Moment) -> Parting {
        Parting {
            in_time: ended < hold.deadline(),
            loss: hold.loss_at(ended),
            hold,
            ended,
        }
    }

    /// How the hold ended, in the word of metrics.
    fn outcome(&self, released: Released) -> Result<&'static str, Loss> {
        match (released, self.loss) {
            (_, Some(loss)) => Err(loss),
            (Released::NotOurs, None) => Err(self.hold.lose(Loss::NotOurs)),
            (_, None) if !self.in_time => Err(Loss::Expired),
            (Released::Freed, None) => Ok("released"),
            (Released::Passed, None) => Ok("passed"),
            (Released::Retained, None) => Ok("retained"),
            (Released::Unheard, None) => Ok("unheard"),
            (Released::Unconfirmed, None) => Ok("unconfirmed"),
        }
    }
}

impl Deref for Held {
    type Target = Hold;

    fn deref(&self) -> &Hold {
        self.hold
            .as_deref()
            .expect("it is taken only when this is given back")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(hold) = self.hold.take() {
            // First: what is told of it is heard by somebody else's code.
            self.engine.abandon(hold.clone());
            if let Some(holding) = self.holding.take() {
                holding.dropped(&hold);
            }
        }
    }
}
