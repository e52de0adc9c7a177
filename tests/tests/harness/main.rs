//! The harness itself: if a fault did not happen, every fault test would pass.

mod long {
    mod clock;
    mod history;
    mod plan;
    mod proxy;
    mod rounds;
    mod worker;
}
