//! A lease stays with its client after the body, for the next caller, unless another client wants the lock.

mod commands;
mod endings;
mod tools;
mod waiters;
