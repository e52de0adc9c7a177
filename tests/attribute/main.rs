//! The attribute: on functions of every shape, what each option does, and its misuse. All in memory; what needs a
//! server is in `lock-tests`.
//!
//! `functions::check` installs the client of the process. The tests of options make clients of their own.

#![deny(warnings, unsafe_code)]

mod edition;
mod functions;
mod lints;
mod mistakes;
mod options;
