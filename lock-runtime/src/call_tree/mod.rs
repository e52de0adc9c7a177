//! Reentrancy: a call below a body that holds a lock enters that lock instead of waiting for it.
//!
//! A lease belongs to a *call tree*: all calls, async and sync, below the body that runs under it.
//! [`Scope`](scope::Scope) is a body and the bodies around it, [`Frame`] a level of nesting in one lease.

pub(crate) mod body;
mod carried;
mod current;
mod frame;
mod nesting;
mod on_lost;
mod scope;

pub use carried::{InCurrentHold, in_current_hold};
pub(crate) use current::{find, for_each_hold, place};
pub(crate) use frame::{Descent, Frame};
pub use on_lost::OnLost;
pub(crate) use scope::{EnclosingFrame, Found, Nesting};
