//! The backend of a client, of either kind.

mod memory_url;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::caller::Caller;
use crate::backend::memory::Memory;
use crate::backend::redis::{self, CLOCK, Parts, QuorumTarget, QuorumWire, RedisWire, Target};
use crate::backend::remote::servers::Servers;
use crate::backend::remote::{self, Remote, run_writer};
use crate::backend::undelivered::{Abandon, Acquiring, Undelivered};
use crate::backend::{Backend, ReleaseOutcome, Request};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::config::{Limits, Options};
use crate::error::LockError;
use crate::lease::Lease;
use crate::lease::fencing_token::FencingToken;
use crate::lease::run_record::{Finish, HoldEnd, RunRecord};

/// The backend of one client.
#[derive(Clone)]
pub(crate) enum AnyBackend {
    Memory(Arc<Memory>),
    Remote(Arc<Remote>),
}

macro_rules! each {
    ($any:expr, $backend:ident => $call:expr) => {
        each!($any, Memory($backend) => $call, Remote($backend) => $call)
    };
    ($any:expr, Memory($memory:pat) => $in_memory:expr, Remote($remote:pat) => $on_servers:expr) => {
        match $any {
            AnyBackend::Memory($memory) => $in_memory,
            AnyBackend::Remote($remote) => $on_servers,
        }
    };
}

pub(crate) use each;

impl AnyBackend {
    /// Opens the backend that `url` names, and returns its limits.
    pub(crate) fn open(url: &str, options: &Options) -> Result<(AnyBackend, Limits), LockError> {
        let url = redis::trim(url)?;
        match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("memory") => {
                let limits = memory_url::limits(rest)?;
                options.check_limits(limits)?;
                Ok((AnyBackend::Memory(Memory::new()), limits))
            }
            _ => {
                let url = Parts::of(url)?;
                let options = &url.apply_to(options)?;
                if let Some(target) = QuorumTarget::of(&url, options)? {
                    let limits = target.limits();
                    options.check_limits(limits)?;
                    let remote = remote::open(options, CLOCK, |background, events| {
                        let wire = QuorumWire::new(target, options, background, events);
                        Ok(Servers::Quorum(wire))
                    })?;
                    return Ok((AnyBackend::Remote(remote), limits));
                }
                AnyBackend::on(Target::of(&url, options)?, options)
            }
        }
    }

    /// Opens the backend of a client of redis-rs.
    #[cfg(feature = "redis")]
    pub(crate) fn open_redis(
        client: &redis::RedisClient,
        options: &Options,
    ) -> Result<(AnyBackend, Limits), LockError> {
        AnyBackend::on(Target::of_redis(client, options)?, options)
    }

    fn on(target: Target, options: &Options) -> Result<(AnyBackend, Limits), LockError> {
        let limits = target.limits();
        options.check_limits(limits)?;
        let remote = remote::open(options, CLOCK, |background, events| {
            RedisWire::new(target, options, background, events).map(Servers::Redis)
        })?;
        Ok((AnyBackend::Remote(remote), limits))
    }

    /// Checks that the store answers.
    pub(crate) async fn ping(&self) -> Result<(), LockError> {
        each!(self,
            Memory(memory) => memory.ping(),
            Remote(remote) => remote.clone().ping().await
        )
    }

    /// Returns the clock for a caller. A thread gets the real one, since paused time does not advance while it blocks.
    pub(crate) fn clock(&self, caller: Caller) -> Clock {
        match (self, caller) {
            (AnyBackend::Memory(_), Caller::Thread) => Clock::Real,
            _ => each!(self, backend => backend.clock()),
        }
    }

    /// Begins at once. The caller must await it in the same poll.
    pub(crate) fn acquire(&self, caller: Caller, request: Request) -> Acquiring {
        match (self, caller) {
            (AnyBackend::Memory(memory), Caller::Thread) => {
                memory.clone().acquire_by(self.clock(caller), request)
            }
            _ => each!(self, backend => caller.begin(|| backend.clone().acquire(request))),
        }
    }

    pub(crate) fn delivered(&self, lease: &Lease) {
        each!(self, backend => backend.delivered(lease));
    }

    pub(crate) async fn renew(&self, lease: Arc<Lease>) -> Result<(), LockError> {
        each!(self, backend => backend.clone().renew(lease).await)
    }

    pub(crate) async fn token(
        &self,
        lease: Arc<Lease>,
        wait_ends: Option<Instant>,
    ) -> Result<FencingToken, LockError> {
        each!(self, backend => backend.clone().token(lease, wait_ends).await)
    }

    pub(crate) async fn downgrade(&self, lease: Arc<Lease>) -> Result<Arc<Lease>, LockError> {
        each!(self, backend => backend.clone().downgrade(lease).await.map(Undelivered::deliver))
    }

    pub(crate) async fn release(&self, lease: Arc<Lease>) -> ReleaseOutcome {
        each!(self, backend => backend.clone().release(lease).await)
    }

    pub(crate) fn abandon(&self, lease: Arc<Lease>) {
        each!(self, backend => backend.clone().abandon(lease));
    }

    /// Records that the holder of a lease has begun.
    pub(crate) fn begin_run(&self, lease: &Lease, run: &RunRecord) {
        each!(self,
            Memory(memory) => memory.begin_run(lease, run),
            Remote(remote) => run_writer::begin(remote, lease, run)
        );
    }

    /// Records that the hold of a lease ends at `now`, if its call records its run.
    pub(crate) fn record_end(&self, lease: &Lease, hold: HoldEnd, now: Moment) {
        if let Some(run) = lease.run()
            && let Some(finish) = run.end(hold, now)
        {
            self.end_run(lease, &run, finish);
        }
    }

    /// Records how the holder of a lease has ended, before the lease itself ends.
    pub(crate) fn end_run(&self, lease: &Lease, run: &RunRecord, finish: Finish) {
        each!(self,
            Memory(memory) => memory.end_run(lease, run, finish),
            Remote(remote) => run_writer::end(remote, lease, run, finish)
        );
    }

    /// Stops retaining leases, and releases the retained ones.
    pub(crate) fn stop_retaining(&self) {
        each!(self,
            Memory(_) => {},
            Remote(remote) => remote.stop_retaining()
        )
    }

    pub(crate) fn live(&self) -> Vec<Arc<Lease>> {
        each!(self, backend => backend.live())
    }

    pub(crate) async fn settled(&self) {
        each!(self, backend => backend.settled().await);
    }

    /// Fails in a forked child of the backend's process.
    pub(crate) fn check_process(&self) -> Result<(), LockError> {
        each!(self,
            Memory(_) => Ok(()),
            Remote(remote) => remote.check_process()
        )
    }

    /// Sleeps by the clock of this backend's callers. In a forked child it returns at once, since no thread keeps time
    /// there.
    pub(crate) async fn sleep(&self, span: Duration) {
        match self {
            AnyBackend::Memory(_) if tokio::runtime::Handle::try_current().is_ok() => {
                tokio::time::sleep(span).await;
            }
            _ => {
                if let Ok(background) = Background::get() {
                    background.sleep(span).await;
                }
            }
        }
    }
}

impl fmt::Debug for AnyBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AnyBackend::Memory(_) => "Memory",
            AnyBackend::Remote(remote) => match &remote.wire {
                Servers::Quorum(_) => "Quorum",
                servers if servers.has_queue() => "Redis",
                _ => "Redisson",
            },
        })
    }
}
