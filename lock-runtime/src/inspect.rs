//! Locks as operators see them: who holds them, who waits, and how to take one away.
//!
//! [`LockClient::inspect`](crate::LockClient::inspect) shows one lock, [`LockClient::watch`](crate::LockClient::watch) each
//! change of its holder, [`LockClient::locks`](crate::LockClient::locks)
//! lists all held locks, [`LockClient::held`](crate::LockClient::held) returns the locks that this client holds, and
//! [`LockClient::ping`](crate::LockClient::ping) probes the server. [`LockClient::revoke`](crate::LockClient::revoke)
//! takes a lock from its holder, [`LockClient::audit`](crate::LockClient::audit) reads who did so, and
//! [`LockClient::runs`](crate::LockClient::runs) returns the last runs of a lock that records them.
//!
//! All of them work with every kind of store, also in memory. Inspection writes nothing and runs no script, so [few
//! permissions](crate::docs::security#viewers-and-operators) are enough.
//!
//! Labels, keys and reasons come from other programs, and may contain characters that a terminal would obey: escape them
//! wherever they are shown.
//!
//! # As JSON
//!
//! With the feature `serde`, the types of this table and of their fields implement `Serialize`, and none but the
//! [token](crate::FencingToken) and the [key](struct@crate::LockKey) implements `Deserialize`. `lockctl --json` and `lock-web`
//! write the same JSON. Its fields are stable, and a later version may add some.
//!
//! | type | fields |
//! |---|---|
//! | [`ListedLock`] | `key`, the fields of its holder, `holder_count`, `waiter_count`, `longest_wait_ms`: `null` if nobody waits; `votes` on a quorum |
//! | [`LockState`] | `key`, `held`, `holders`, `more_holders`, `waiters`, `more_waiters`, `last_token`; `votes` on a quorum |
//! | [`Holder`] | `holder`: its label; `kind`, `token`, `reference`, `record`: the hash in the reference; `age_ms`, `remaining_ms`: `null` if it never expires; `permits` |
//! | [`Waiter`] | `waiter`: its label; `waiting_ms`, `last_seen_ms` |
//! | [`Votes`] | `nodes`, `answered`, `agreed` |
//! | [`LocalHold`] | `keys`, `function`, `token`, `age_ms`, `remaining_ms`, `waiting_callers` |
//! | [`AuditEntry`] | `at`, `operation`, `by`, `user`, `action`, `key`, `token`, `holder`: the label; `reason`, `outcome`; `error` if it failed |
//! | [`Revoked`] | `key`, `outcome`: `freed` or `handed_off`, with the other fields of its receipt; `changed`, with the `lock`; or `not_held` |
//! | [`Run`] | `began`, `ended`: `null` if no end is recorded; `took_ms`, `holder`: the label; `outcome` |
//! | [`Receipt`] | `key`, `operation`, `former_holder`: the label; `outcome`, `audited`; `nodes` on a quorum |
//!
//! A duration is a number of whole milliseconds, a time is RFC 3339 in UTC, a token is a number. Kinds, actions and
//! outcomes are what their `as_str` returns. Texts of other programs are not escaped. A reference, a hash and a
//! [`ListingPosition`] are the text that they display. `null` is the field's `None`.

pub use crate::client::{Audit, Locks, Watch};
// For `lockctl` and `lock-web`; not a stable interface.
#[doc(hidden)]
pub use crate::state::{Answer, Escaped, Rfc3339, ServerAnswers, escape, is_printable};
pub use crate::state::{
    AuditAction, AuditEntry, AuditOutcome, Holder, HolderKind, HolderRef, ListedLock,
    ListingPosition, LocalHold, LockState, ParseHolderRefError, ParseListingPositionError, Receipt,
    RecordHash, Revocation, Revoked, Run, RunOutcome, Votes, Waiter,
};
