//! The harness itself: if a fault did not happen, every fault test would pass.

mod clock;
mod control;
mod history;
mod proxy;
mod rounds;
mod server;
mod worker;
