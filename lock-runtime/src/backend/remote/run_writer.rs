//! Writes the run histories of locks.
//!
//! The history is advisory. The caller sends an entry and goes on: it never waits for the answer, and no failure
//! reaches it. An entry that may not have arrived is sent again in the background, since a run without an end looks as
//! if its process had died.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::backend::redis::NotWritten;
use crate::backend::remote::Remote;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::wire::error::WireError;
use crate::backend::wire::run_entry::{RunEntry, RunEvent};
use crate::background::random;
use crate::background::sync::Mutex;
use crate::lease::Lease;
use crate::lease::run_record::{Finish, RunId, RunRecord};
use crate::telemetry::{self, CallLabels};

/// How long an entry is sent again: longer than most failovers take.
const RETRIED_FOR: Duration = Duration::from_secs(30);

/// How many entries are sent again at the same time. Further ones are given up.
const MOST_RETRIED: u32 = 64;

/// How long a failure is not reported again.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// The state of a client's run histories.
#[derive(Default)]
pub(crate) struct RunWriter {
    /// How many entries are being sent again.
    retried: AtomicU32,
    /// When a failure was last reported.
    reported: Mutex<Option<Instant>>,
}

/// Records that the holder of `lease` has begun.
pub(crate) fn begin(remote: &Arc<Remote>, lease: &Lease, run: &RunRecord) {
    submit(remote, lease, run, RunEvent::Began);
}

/// Records how the holder of `lease` has ended. The caller's next command is about to follow.
pub(crate) fn end(remote: &Arc<Remote>, lease: &Lease, run: &RunRecord, finish: Finish) {
    submit(remote, lease, run, RunEvent::Ended(finish));
}

fn submit(remote: &Arc<Remote>, lease: &Lease, run: &RunRecord, event: RunEvent) {
    if remote.check_process().is_err() {
        return;
    }
    let entry = Arc::new(RunEntry {
        names: run.names.clone(),
        id: RunId {
            owner_id: lease.owner_id,
            number: run.number,
        },
        kept: run.kept,
        label: lease.label.clone(),
        event,
        at: remote.now(),
    });
    let (client, labels) = (Arc::downgrade(remote), lease.trace.labels.clone());
    let unwritten = entry.clone();
    let on_failure = move |failure| {
        // Without a client, nothing is left that could send it again.
        if let Some(remote) = client.upgrade() {
            remote.runs.failed(&remote, unwritten, &labels, failure);
        }
    };
    remote.wire.submit_run(&entry, Box::new(on_failure));
}

impl RunWriter {
    fn failed(
        &self,
        remote: &Arc<Remote>,
        entry: Arc<RunEntry>,
        labels: &CallLabels,
        failure: NotWritten,
    ) {
        match failure {
            NotWritten::Refused(error) => self.report(remote, labels, error),
            NotWritten::Unknown if self.retried.fetch_add(1, Ordering::Relaxed) < MOST_RETRIED => {
                let (client, labels) = (Arc::downgrade(remote), labels.clone());
                remote.spawn(retry(client, entry, labels));
            }
            NotWritten::Unknown => {
                self.retried.fetch_sub(1, Ordering::Relaxed);
                let error = WireError::unavailable("too many entries wait for the server");
                self.report(remote, labels, error);
            }
        }
    }

    /// Reports that an entry was not written, once in a while. On the background, since this may be called between the
    /// end of a body and its release, and subscribers may block.
    fn report(&self, remote: &Remote, labels: &CallLabels, error: WireError) {
        let now = Instant::now();
        let mut reported = self.reported.lock();
        let is_recent = |at: &Instant| now.saturating_duration_since(*at) < REPORT_INTERVAL;
        if reported.as_ref().is_some_and(is_recent) {
            return;
        }
        *reported = Some(now);
        drop(reported);
        let labels = labels.clone();
        remote.spawn(async move { telemetry::run_not_recorded(&labels, &error) });
    }
}

/// Sends an entry until it is written, refused, or too late, or the client is gone.
async fn retry(client: Weak<Remote>, entry: Arc<RunEntry>, labels: CallLabels) {
    let until = Instant::now() + RETRIED_FOR;
    let mut failures = 0;
    while let Some(remote) = client.upgrade() {
        let outcome = remote.wire.write_run(&entry).await;
        if matches!(outcome, Err(WireError::Unavailable(_))) && Instant::now() < until {
            failures += 1;
            let pause = Instant::now() + backoff(failures, random::jitter());
            let timers = remote.background.timers();
            drop(remote);
            timers.sleep_until(pause).await;
            continue;
        }
        remote.runs.retried.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = outcome {
            remote.runs.report(&remote, &labels, error);
        }
        return;
    }
}
