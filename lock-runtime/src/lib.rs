//! Locks shared by every machine, on Redis or Valkey.

#[doc(hidden)]
#[path = "private/mod.rs"]
pub mod __private;
mod acquire;
mod backend;
mod client;
mod clock;
mod engine;
mod error;
mod gate;
mod guard;
mod hold;
mod holds;
mod keeper;
mod model;
mod options;
mod random;
mod reaper;
mod remote;
mod roster;
mod tally;
mod telemetry;
mod wait;
mod watchdog;

use __private as private;

pub use acquire::Acquire;
pub use client::{LockClient, LockClientBuilder};
pub use error::{LockError, LockErrorKind};
pub use guard::LockGuard;
pub use holds::{InCurrentHold, in_current_hold};
pub use model::key::{KeyPart, KeyWriter, LockKey};
pub use model::token::FencingToken;

#[cfg(feature = "macros")]
#[doc = include_str!("attribute.md")]
#[doc(inline)]
pub use lock_macros::distributed_lock;
