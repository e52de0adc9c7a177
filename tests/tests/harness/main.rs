//! Tests of the harness: if a fault did not happen, every fault test would pass.

mod long {
    mod clients;
    mod clock;
    mod history;
    mod proxy;
    mod rounds;
    mod worker;
}
