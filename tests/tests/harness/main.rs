//! The harness itself: a fault that does not happen would let every fault test pass.

mod clock;
mod control;
mod history;
mod proxy;
mod rounds;
mod server;
mod worker;
