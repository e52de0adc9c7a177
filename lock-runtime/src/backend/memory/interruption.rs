//! Lets a test interrupt a body at one of its awaits.
//!
//! Each poll that leaves a body of the client asleep counts as one await, whatever task or runtime polls it. The body at
//! the chosen await loses its lock, or its process is *killed*: it is forgotten instead of dropped, and its leases run
//! out. A client has one interruption at most.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use crate::backend::memory::Memory;
use crate::backend::memory::store::store_request::LockOwner;
use crate::background::sync::Mutex;
use crate::lease::{Lease, LossReason};
use crate::telemetry::CallLabels;

thread_local! {
    static CURRENT: Cell<Option<ProcessId>> = const { Cell::new(None) };
}

/// A future that stands for a process, which can be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId(u64);

impl ProcessId {
    pub(crate) fn next() -> ProcessId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ProcessId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes this the current process of the thread until the returned value is dropped, even by a panic.
    pub(crate) fn entered(self) -> Entered {
        Entered(CURRENT.replace(Some(self)))
    }
}

pub(crate) struct Entered(Option<ProcessId>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// How a body is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The body loses its lock.
    Loss,
    /// The process of the body is killed.
    Crash,
}

/// The interruption of one body, counted down by the awaits of all.
#[derive(Debug)]
pub(crate) struct Interruption {
    manner: Manner,
    /// The number of the await, from 0.
    at: usize,
    awaits: AtomicUsize,
    interrupted: OnceLock<Interrupted>,
    /// Whether a body slept that no process could be killed for.
    is_outside: AtomicBool,
    /// The leases of each process.
    granted: Mutex<Vec<(ProcessId, Weak<Lease>)>>,
}

/// The body that was interrupted.
#[derive(Debug)]
pub(crate) struct Interrupted {
    pub(crate) key: String,
    pub(crate) labels: CallLabels,
    /// The number of the await among those of this body, from 0.
    pub(crate) await_of_body: usize,
    process: Option<ProcessId>,
}

impl Interruption {
    pub(crate) fn new(manner: Manner, at: usize) -> Interruption {
        Interruption {
            manner,
            at,
            awaits: AtomicUsize::new(0),
            interrupted: OnceLock::new(),
            is_outside: AtomicBool::new(false),
            granted: Mutex::default(),
        }
    }

    /// Returns how many awaits have been counted.
    pub(crate) fn awaits(&self) -> usize {
        self.awaits.load(Ordering::SeqCst)
    }

    pub(crate) fn interrupted(&self) -> Option<&Interrupted> {
        self.interrupted.get()
    }

    /// Returns whether a body slept outside of every process, although bodies are to crash.
    pub(crate) fn is_outside(&self) -> bool {
        self.is_outside.load(Ordering::SeqCst)
    }

    /// Counts an await, and returns whether it is the one.
    fn counts(&self, lease: &Lease, await_of_body: usize) -> bool {
        let process = CURRENT.get();
        if self.manner == Manner::Crash && process.is_none() {
            self.is_outside.store(true, Ordering::SeqCst);
            return false;
        }
        if self.awaits.fetch_add(1, Ordering::SeqCst) != self.at {
            return false;
        }
        let interrupted = Interrupted {
            key: lease.keys.first().to_string(),
            labels: lease.trace.labels.clone(),
            await_of_body,
            process,
        };
        self.interrupted.set(interrupted).is_ok()
    }

    fn has_killed(&self, process: ProcessId) -> bool {
        let victim = self.interrupted().and_then(|body| body.process);
        self.manner == Manner::Crash && victim == Some(process)
    }
}

impl Memory {
    /// Creates a store whose bodies are interrupted.
    pub(crate) fn interrupting(interruption: Interruption) -> Arc<Memory> {
        Arc::new(Memory {
            interruption: Some(interruption),
            ..Memory::default()
        })
    }

    pub(crate) fn interruption(&self) -> Option<&Interruption> {
        self.interruption.as_ref()
    }

    /// Notes that a poll left a body asleep. Returns whether the body was interrupted there.
    pub(crate) fn body_slept(&self, lease: &Lease, await_of_body: usize) -> bool {
        let Some(interruption) = self.interruption() else {
            return false;
        };
        let is_interrupted = interruption.counts(lease, await_of_body);
        if is_interrupted && interruption.manner == Manner::Loss {
            lease.lose(LossReason::NotOurs);
            self.free(lease);
        }
        is_interrupted
    }

    /// Notes which process has a lease.
    pub(super) fn note_process(&self, lease: &Arc<Lease>) {
        if let Some(interruption) = self.interruption()
            && let Some(process) = CURRENT.get()
        {
            let mut granted = interruption.granted.lock();
            granted.push((process, Arc::downgrade(lease)));
        }
    }

    /// Returns whether a process was killed. Nobody renews its leases then: each ends one ttl later.
    pub(crate) fn buries(&self, process: ProcessId) -> bool {
        let Some(interruption) = self.interruption() else {
            return false;
        };
        if !interruption.has_killed(process) {
            return false;
        }
        let granted = std::mem::take(&mut *interruption.granted.lock());
        let of_process = granted.iter().filter(|(owner, _)| *owner == process);
        for lease in of_process.filter_map(|(_, lease)| lease.upgrade()) {
            self.orphan(&lease);
        }
        true
    }

    fn orphan(&self, lease: &Lease) {
        let now = lease.now();
        let orphan = |owner: LockOwner<'_>| {
            self.store
                .decide(|store| store.orphan(owner, lease.terms.ttl, now));
        };
        if lease.keys.is_one() {
            orphan(lease.into());
        } else if let Some(owners) = self.several.remove(lease) {
            owners.iter().for_each(|owner| orphan(owner.into()));
        }
    }
}
