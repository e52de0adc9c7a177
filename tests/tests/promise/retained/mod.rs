//! A lease stays with its client after the body, for the next caller, as long as nobody else wants it.

mod commands;
mod endings;
mod tools;
mod waiters;
