//! Promises that were broken once. The comment of each test describes the bug in a line.

mod crowds;
mod destructors;
mod distance;
mod downgrade;
mod messages;
mod nesting;
mod refused;
mod renewal;
mod shutdown;
mod turns;
