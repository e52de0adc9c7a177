//! The backends behind one face, and the ownership of what they grant.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::memory::Memory;
use crate::backend::redis::Server;
use crate::clock::Clock;
use crate::error::{LockError, LockErrorKind};
use crate::gate::Gate;
use crate::hold::Hold;
use crate::keeper::{AbortOnDrop, Keeper, block_on};
use crate::model::key::{LockKey, RecordNames};
use crate::model::lease::Terms;
use crate::model::moment::Moment;
use crate::options::{Options, invalid};
use crate::remote::Remote;
use crate::tally::Counted;

/// One outermost acquisition, with every default filled in.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) key: LockKey,
    pub(crate) names: Arc<RecordNames>,
    pub(crate) terms: Terms,
    /// Zero: one attempt, and no place in the queue.
    pub(crate) wait: Duration,
    /// Who asks, as others will read it.
    pub(crate) label: String,
    pub(crate) function: &'static str,
    pub(crate) template: &'static str,
}

/// How a release ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Released {
    /// The server confirmed it.
    Freed,
    /// The server says that the lock was not ours any more.
    NotOurs,
    /// No answer in time: the deadline decides, and the release goes on in the background.
    Unconfirmed,
}

/// What a backend does, in the terms of a holder.
///
/// There are two kinds: one keeps its locks in this process, the others speak to servers. They are
/// told apart here and nowhere above.
pub(crate) trait Backend: Send + Sync + Sized + 'static {
    /// The clock that its leases are measured by.
    fn clock(&self) -> Clock;

    /// Acquires, waiting as the request says. Dropped at any await it leaves nothing behind.
    fn acquire(
        self: Arc<Self>,
        request: Request,
    ) -> impl Future<Output = Result<Delivery<Self>, LockError>> + Send;

    /// Confirms the lease against the store and extends it.
    fn renew(
        self: Arc<Self>,
        hold: Arc<Hold>,
    ) -> impl Future<Output = Result<(), LockError>> + Send;

    /// Gives the lock back and says how that went.
    fn release(self: Arc<Self>, hold: Arc<Hold>) -> impl Future<Output = Released> + Send;

    /// Gives the lock back without anybody waiting for the answer. Never blocks.
    fn abandon(self: Arc<Self>, hold: Arc<Hold>);

    /// Every hold that was not given back yet.
    fn live(&self) -> Vec<Arc<Hold>>;

    /// Completes when what was abandoned before has been given back.
    fn settled(&self) -> impl Future<Output = ()> + Send;
}

/// A hold on its way to the caller; given back if it does not arrive.
#[derive(Debug)]
pub(crate) struct Delivery<B: Backend> {
    /// `Some` until it has arrived.
    hold: Option<Arc<Hold>>,
    backend: Arc<B>,
}

impl<B: Backend> Delivery<B> {
    pub(crate) fn new(backend: &Arc<B>, hold: Arc<Hold>) -> Delivery<B> {
        Delivery {
            hold: Some(hold),
            backend: backend.clone(),
        }
    }

    /// It has arrived: giving it back is the caller's from now on.
    fn unpack(mut self) -> Arc<Hold> {
        self.hold.take().expect("it is unpacked once")
    }
}

impl<B: Backend> Drop for Delivery<B> {
    fn drop(&mut self) {
        if let Some(hold) = self.hold.take() {
            self.backend.clone().abandon(hold);
        }
    }
}

/// The backend of one client.
#[derive(Clone)]
pub(crate) enum Engine {
    Memory(Arc<Memory>),
    Redis(Arc<Remote<Server>>),
}

macro_rules! each {
    ($engine:expr, $backend:ident => $call:expr) => {
        match $engine {
            Engine::Memory($backend) => $call,
            Engine::Redis($backend) => $call,
        }
    };
}

impl Engine {
    /// The backend that `url` names.
    pub(crate) fn open(url: &str, options: &Options) -> Result<Engine, LockError> {
        match url.split_once("://") {
            Some(("memory", "")) => Ok(Engine::Memory(Memory::new())),
            Some(("memory", _)) => Err(invalid("a memory client takes nothing after `memory://`")),
            _ => Ok(Engine::Redis(Remote::open(url, options)?)),
        }
    }

    /// Makes sure that the store answers.
    pub(crate) async fn ping(&self) -> Result<(), LockError> {
        match self {
            Engine::Memory(_) => Ok(()),
            Engine::Redis(remote) => remote.clone().ping().await,
        }
    }

    pub(crate) fn clock(&self) -> Clock {
        each!(self, backend => backend.clock())
    }

    async fn acquire(&self, request: Request) -> Result<Arc<Hold>, LockError> {
        match self {
            // Its timers need a runtime; a caller without one borrows the keeper's.
            Engine::Memory(memory) if tokio::runtime::Handle::try_current().is_err() => {
                on_keeper(memory.clone().acquire(request))
                    .await
                    .map(Delivery::unpack)
            }
            Engine::Memory(memory) => memory.clone().acquire(request).await.map(Delivery::unpack),
            Engine::Redis(remote) => remote.clone().acquire(request).await.map(Delivery::unpack),
        }
    }

    fn acquire_blocking(&self, gate: &Gate, request: Request) -> Result<Arc<Hold>, LockError> {
        let key = request.key.clone();
        match self {
            // On the keeper's timers: the caller's own cannot run while it blocks.
            Engine::Memory(memory) => {
                let acquire = on_keeper(memory.clone().acquire(request));
                block_on(gate.unless_closed(&key, acquire)).map(Delivery::unpack)
            }
            Engine::Redis(_) => block_on(gate.unless_closed(&key, self.acquire(request))),
        }
    }

    async fn renew(&self, hold: Arc<Hold>) -> Result<(), LockError> {
        each!(self, backend => backend.clone().renew(hold).await)
    }

    async fn release(&self, hold: Arc<Hold>) -> Released {
        each!(self, backend => backend.clone().release(hold).await)
    }

    fn abandon(&self, hold: Arc<Hold>) {
        each!(self, backend => backend.clone().abandon(hold));
    }

    pub(crate) fn live(&self) -> Vec<Arc<Hold>> {
        each!(self, backend => backend.live())
    }

    pub(crate) async fn settled(&self) {
        each!(self, backend => backend.settled().await);
    }

    /// Sleeps by the clock that this backend's callers go by.
    pub(crate) async fn sleep(&self, span: Duration) {
        match self {
            Engine::Memory(_) if tokio::runtime::Handle::try_current().is_ok() => {
                tokio::time::sleep(span).await;
            }
            _ => match Keeper::get() {
                Ok(keeper) => keeper.sleep(span).await,
                Err(_) => std::future::pending().await,
            },
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Memory(_) => "Memory",
            Engine::Redis(_) => "Redis",
        })
    }
}

/// Runs `task` on the keeper until it ends or its caller goes away.
async fn on_keeper<T: Send + 'static>(
    task: impl Future<Output = Result<T, LockError>> + Send + 'static,
) -> Result<T, LockError> {
    let gone = || LockError::new(LockErrorKind::Shutdown);
    let task = Keeper::get()?.spawn(task).ok_or_else(gone)?;
    AbortOnDrop(task)
        .join()
        .await
        .unwrap_or_else(|_| Err(gone()))
}

/// The duty to give a lock back: whoever drops the last of it, releases.
#[derive(Debug)]
pub(crate) struct Held {
    /// `Some` until it is given back.
    hold: Option<Arc<Hold>>,
    engine: Engine,
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
            _inside: inside,
        }
    }

    pub(crate) async fn renew(&self) -> Result<(), LockError> {
        self.engine.renew(self.shared()).await
    }

    /// Gives the lock back. `Ok` if it was held until `ended`, and nothing disproved it.
    ///
    /// Dropped half-way, the release goes on in the background.
    pub(crate) async fn release(mut self, ended: Moment) -> Result<(), LockError> {
        let hold = self.shared();
        let in_time = ended < hold.deadline();
        let known = hold.loss();
        let released = self.engine.release(hold.clone()).await;
        self.hold = None;
        match (released, known) {
            (_, Some(loss)) => Err(hold.lost_error(loss)),
            (Released::NotOurs, None) => {
                Err(hold.lost_error(hold.lose(crate::hold::Loss::NotOurs)))
            }
            (_, None) if !in_time => Err(hold.lost_error(crate::hold::Loss::Expired)),
            (Released::Freed | Released::Unconfirmed, None) => Ok(()),
        }
    }

    fn shared(&self) -> Arc<Hold> {
        self.hold
            .clone()
            .expect("it is taken only when this is given back")
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
            self.engine.abandon(hold);
        }
    }
}
