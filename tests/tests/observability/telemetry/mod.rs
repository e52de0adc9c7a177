//! What operators see: spans, events and metrics, all by template and none by key.
//!
//! Each test locks under a template of its own: the recorders are the process's, since much of what
//! is told comes from the background thread.

mod events;

mod meter;
mod metrics;
mod spans;

use harness::{LONG, ask, client, eventually, ms};
use lock_runtime::{LockClient, LockError};
