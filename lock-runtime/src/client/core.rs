//! The state that all clones of a client share.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::backend::admission::Admission;
use crate::backend::any::AnyBackend;
use crate::client::holder_labels::Labels;
use crate::client::lock_order::LockOrder;
use crate::client::shutdown_report::ShutdownReport;
use crate::config::{Limits, Options};
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockKey, RecordNames};
use crate::lease::LossReason;
use crate::telemetry;

/// The state that all clones of a client share.
pub(crate) struct Core {
    /// Identifies the client in a call tree; unique in this process.
    pub(crate) number: u64,
    pub(crate) options: Options,
    pub(crate) limits: Limits,
    pub(crate) labels: Labels,
    pub(crate) backend: AnyBackend,
    pub(crate) admission: Arc<Admission>,
    pub(crate) order: LockOrder,
}

impl Core {
    pub(crate) fn new(backend: AnyBackend, limits: Limits, options: Options) -> Core {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        telemetry::describe();
        Core {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            labels: Labels::new(options.label.as_deref()),
            options,
            limits,
            backend,
            admission: Arc::default(),
            order: LockOrder::new(),
        }
    }

    /// Returns the names of a key's records.
    pub(crate) fn names_of(&self, key: &LockKey) -> Result<RecordNames, LockError> {
        let names = RecordNames::new(&self.options.prefix, key);
        names.map_err(|problem| {
            LockError::new(LockErrorKind::InvalidKey)
                .with_key(key)
                .with_detail(problem.to_string())
        })
    }

    /// Refuses a feature that the record of a lock, or the servers that keep it, do not support.
    pub(crate) fn require(&self, feature: &str) -> Result<(), LockError> {
        self.options.record.require_native(feature)?;
        self.limits.require(feature)
    }

    /// Refuses new calls and waits for calls in flight, first while bodies may run, then until their releases are
    /// settled.
    pub(crate) async fn shutdown(&self) -> ShutdownReport {
        let mut report = ShutdownReport::default();
        self.admission.close();
        self.backend.stop_retaining();
        self.backend.stop_watching();
        // In a forked child the locks are the parent's, and no background thread would end the wait.
        if self.backend.check_process().is_err() {
            return report;
        }
        let (grace, answer) = (self.options.shutdown_grace, self.options.command_timeout);
        if !self.completes_within(grace, self.admission.empty()).await {
            // Twice: a writer that became a reader during the first pass has a new lease. A writer that becomes a
            // reader later ends its new lease itself.
            for _ in 0..2 {
                for lease in self.backend.live() {
                    report.stopped += usize::from(lease.loss().is_none());
                    lease.lose(LossReason::Shutdown);
                }
            }
            self.completes_within(answer, self.admission.empty()).await;
        }
        report.answered = self
            .completes_within(answer * 2, self.backend.settled())
            .await;
        report.in_use = self.backend.live().len();
        report
    }

    async fn completes_within(&self, time: Duration, work: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = work => true,
            () = self.backend.sleep(time) => false,
        }
    }
}

impl Drop for Core {
    /// Ends retained leases: no caller is left that could take one.
    fn drop(&mut self) {
        self.backend.stop_retaining();
    }
}
