//! Promises that were broken once. Each test says in a line what went wrong then.

mod arrivals;
mod destructors;
mod distance;
mod late;
mod memory;
mod nesting;
mod refused;
mod renewal;
mod results;
mod shutdown;
mod tools;
mod turns;
