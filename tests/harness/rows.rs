//! The fault table: every row that one server can show.
//!
//! A file is a kind of fault. The page `lock_runtime::docs::faults` says what each row means for a
//! user.

mod crash;
mod cuts;
mod pause;

use std::time::Duration;

use crate::rounds::Row;

/// The ttl of a lease that is to run out.
const TTL: Duration = Duration::from_secs(1);

/// The ttl of a lease that is not. What was lost on the way is undone for a ttl, at least for 10 s:
/// longer ones would only keep the round waiting for its base line.
const LONG: Duration = Duration::from_secs(8);

/// All rows.
pub const TABLE: &[Row] = &[crash::HOLDER_KILLED, pause::HOLDER_PAUSED, cuts::REPLY_CUT];
