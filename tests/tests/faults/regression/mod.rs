//! Promises that were broken once. Each test says in a line what went wrong then.

mod arrivals;
mod claims;
mod crowds;
mod destructors;
mod distance;
mod foreigners;
mod late;
mod memory;
mod messages;
mod nesting;
mod reconnects;
mod refused;
mod renewal;
mod results;
mod shutdown;
mod tools;
mod turns;
mod unclaimed;
mod values;
