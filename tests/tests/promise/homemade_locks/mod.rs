//! The locks that people write on Redis themselves: our record is theirs, without their failures.
//!
//! Several wrong versions run here as they are commonly written, which shows that the test would reveal the failure.
//! `processes/foreign` and `long` have programs of other kinds at the same key.

mod record;
mod wrong_versions;

use harness::{KEY, LOCK, LONG, ask, client, eventually, hold, ms};
