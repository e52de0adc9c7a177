//! Promises that were broken once. The comment of each test describes the bug in a line.

mod claims;
mod crowds;
mod destructors;
mod distance;
mod downgrade;
mod memory;
mod messages;
mod nesting;
mod reconnects;
mod refused;
mod renewal;
mod shutdown;
mod turns;
