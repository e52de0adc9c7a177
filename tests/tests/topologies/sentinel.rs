//! Locks on a primary that sentinels watch.

mod access;
mod failover;
mod finding;
mod operators;
mod rights;
