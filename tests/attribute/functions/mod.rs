//! Whether the attribute fits a function: one file per kind of function, which both editions use.
//!
//! `check` runs each row: the body never runs together with another holder, holds the lock while it runs, and has
//! released it after its end, a panic and a cancellation.

#![allow(
    clippy::complexity,
    clippy::style,
    reason = "the rows are written as users may write them"
)]

mod attributes;
mod auto_traits;
mod blanket;
mod calls;
pub(crate) mod check;
mod clients;
mod coerced;
mod defused;
mod drops;
mod futures;
mod generics;
mod levels;
mod lifetimes;
mod made;
mod patterns;
mod receivers;
mod returns;
mod several;
mod stacked;
mod tokens;
mod traits;
mod unsafe_functions;
