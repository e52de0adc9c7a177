//! Examples of lock-runtime, one file an idea.
//!
//! | example | what it shows |
//! |---|---|
//! | `quickstart` | the main job: a function that several want, and one at a time has |
//! | `quickstart-expanded` | the same program as the compiler sees it |
//! | `guard` | a lock by hand: acquire, try, renew, release |
//! | `reentrancy` | locked functions that call each other, side by side and in tasks |
//! | `lottery` | a scheduled job that one of several instances runs |
//! | `lost_lease` | a lock that is lost: the body stops, the caller learns it |
//! | `fencing` (`--features sqlite`) | a database that refuses a writer that overslept |
//! | `web` (`--features axum`) | a service that answers 409 and says who is at it |
//! | `shutdown` (`--features axum`) | a service that is told to end, and leaves no lock behind |
//!
//! Each runs with `cargo run -p lock-examples --example <name>`, in memory, or on the server of
//! `LOCK_URL`. `cargo run -p lock-example-synchronous` is a program without async, in a package of
//! its own that depends on lock-runtime alone. `tests/without_redis.rs` shows how to test functions
//! that take locks.
