//! The promises of the crate that need neither every backend nor a process of their own, line by line, each against a
//! real server.
//!
//! The tests are named after the lines of the contract in the crate's documentation. If a promise is about a failing
//! server, the failure is real: the server is frozen or killed, or a proxy holds the bytes back. The other lines:
//!
//! | line | where |
//! |---|---|
//! | 3, 5, 7, 12 | rows of the fault table: `black_hole`, `reply_slow`, `renewal_slow`; `holder_killed`; those of class F |
//! | 3, a sync body | `conformance/blocking` |
//! | 6 | `protocol/scripts/acquire` |
//! | 10 | `conformance/dropping`, and `cancellation` at every poll |
//! | 11 | `protocol/security/keys` |

mod line_01_body_needs_the_lock;
mod line_02_ok_means_held;
mod line_04_only_the_owner_releases;
mod line_08_kinds;
mod line_09_wait;

use harness::{KEY, LOCK, LONG, SLACK, ask, client, hold, ms, soon};
