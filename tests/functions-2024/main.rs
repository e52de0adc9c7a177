//! Every kind of function that the attribute is for, in edition 2024.
//!
//! The editions share the tables; `edition` has the syntax of this one. `check` runs each row: the body
//! never runs beside another holder, holds the lock while it runs, and has released it after its end, a
//! panic and a cancellation.

#![deny(warnings)]
#![forbid(unsafe_code)]
#![allow(
    clippy::complexity,
    clippy::style,
    reason = "the rows are written as users may write them"
)]

#[path = "../functions/attributes.rs"]
mod attributes;
#[path = "../functions/blanket.rs"]
mod blanket;
#[path = "../functions/calls.rs"]
mod calls;
#[path = "../functions/check.rs"]
mod check;
#[path = "../functions/clients.rs"]
mod clients;
#[path = "../functions/coerced.rs"]
mod coerced;
#[path = "../functions/defused.rs"]
mod defused;
mod edition;
#[path = "../functions/exits.rs"]
mod exits;
#[path = "../functions/futures.rs"]
mod futures;
#[path = "../functions/generics.rs"]
mod generics;
#[path = "../functions/lifetimes.rs"]
mod lifetimes;
#[path = "../functions/made.rs"]
mod made;
#[path = "../functions/patterns.rs"]
mod patterns;
#[path = "../functions/receivers.rs"]
mod receivers;
#[path = "../functions/returns.rs"]
mod returns;
#[path = "../functions/several.rs"]
mod several;
#[path = "../functions/stacked.rs"]
mod stacked;
#[path = "../functions/traits.rs"]
mod traits;
