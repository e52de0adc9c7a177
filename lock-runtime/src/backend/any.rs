//! The backends behind one face.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::admission::Gate;
use crate::backend::memory::Memory;
use crate::backend::redis::{self, Server};
use crate::backend::remote::Remote;
use crate::backend::{Backend, Delivery, Released, Request};
use crate::background::clock::Clock;
use crate::background::{Keeper, block_on};
use crate::config::Options;
use crate::error::LockError;
use crate::lease::Hold;

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
            Some(("memory", _)) => Err(LockError::invalid_options(
                "a memory client takes nothing after `memory://`",
            )),
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

    /// The clock of callers that block their thread: time that is paused would not go on meanwhile.
    pub(crate) fn blocking_clock(&self) -> Clock {
        match self {
            Engine::Memory(_) => Clock::Real,
            Engine::Redis(remote) => remote.clock(),
        }
    }

    pub(crate) async fn acquire(&self, request: Request) -> Result<Arc<Hold>, LockError> {
        each!(self, backend => backend.clone().acquire(request).await.map(Delivery::unpack))
    }

    pub(crate) fn acquire_blocking(
        &self,
        gate: &Gate,
        request: Request,
    ) -> Result<Arc<Hold>, LockError> {
        let key = request.key.clone();
        match self {
            Engine::Memory(memory) => {
                let acquire = memory.clone().acquire_by(self.blocking_clock(), request);
                block_on(gate.unless_closed(&key, acquire)).map(Delivery::unpack)
            }
            Engine::Redis(remote) => {
                let acquire = remote.clone().acquire(request);
                redis::block_on(gate.unless_closed(&key, acquire)).map(Delivery::unpack)
            }
        }
    }

    pub(crate) fn handed_over(&self, hold: &Hold) {
        each!(self, backend => backend.handed_over(hold));
    }

    pub(crate) async fn renew(&self, hold: Arc<Hold>) -> Result<(), LockError> {
        each!(self, backend => backend.clone().renew(hold).await)
    }

    pub(crate) async fn release(&self, hold: Arc<Hold>) -> Released {
        each!(self, backend => backend.clone().release(hold).await)
    }

    /// As [`release`](Engine::release), for callers that block their thread.
    pub(crate) fn release_blocking(&self, hold: Arc<Hold>) -> Released {
        match self {
            Engine::Memory(memory) => block_on(memory.clone().release(hold)),
            Engine::Redis(remote) => redis::block_on(remote.clone().release(hold)),
        }
    }

    pub(crate) fn abandon(&self, hold: Arc<Hold>) {
        each!(self, backend => backend.clone().abandon(hold));
    }

    /// No lease outlives its holder from now on, and those that do are given back.
    pub(crate) fn stop_retaining(&self) {
        match self {
            Engine::Memory(_) => {}
            Engine::Redis(remote) => remote.stop_retaining(),
        }
    }

    pub(crate) fn live(&self) -> Vec<Arc<Hold>> {
        each!(self, backend => backend.live())
    }

    pub(crate) async fn settled(&self) {
        each!(self, backend => backend.settled().await);
    }

    /// Whether this is still the process that the backend works in.
    pub(crate) fn check_process(&self) -> Result<(), LockError> {
        match self {
            Engine::Memory(_) => Ok(()),
            Engine::Redis(remote) => remote.check_process(),
        }
    }

    /// Sleeps by the clock that this backend's callers go by. Not at all where nobody keeps time, as
    /// in a forked child: what is waited for there will not come either.
    pub(crate) async fn sleep(&self, span: Duration) {
        match self {
            Engine::Memory(_) if tokio::runtime::Handle::try_current().is_ok() => {
                tokio::time::sleep(span).await;
            }
            _ => {
                if let Ok(keeper) = Keeper::get() {
                    keeper.sleep(span).await;
                }
            }
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
