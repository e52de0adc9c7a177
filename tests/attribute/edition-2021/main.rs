//! Every kind of function that the attribute is for, in edition 2021.
//!
//! The tables are shared with edition 2024; `edition` has the syntax of this one.

#![deny(warnings, unsafe_code)]

mod edition;
#[path = "../functions/mod.rs"]
mod functions;
