//! Examples of lock-runtime, one idea per file.
//!
//! | example | content |
//! |---|---|
//! | `quickstart` | the core case: many callers, one runs at a time |
//! | `quickstart-expanded` | the same program with its attribute expanded |
//! | `guard` | a lock without the attribute: acquire, try, renew, release |
//! | `reentrancy` | locked functions that call each other, concurrently and in tasks |
//! | `modes` | readers and a writer, permits, two locks at once |
//! | `with_java` | a lock shared with a Java service that uses Redisson |
//! | `lottery` | a scheduled job that one of several instances runs |
//! | `leader` | one of several instances leads, and another takes over when it stops |
//! | `lost_lease` | a lock that is lost: the body stops and the call fails |
//! | `interrupted` | a test that finds the await at which the loss of a lock does harm |
//! | `fencing` (`--features sqlite`) | a database that refuses a writer whose lease has expired |
//! | `web` (`--features axum`) | a service that answers 409 and names the holder |
//! | `operators` (`--features axum`) | pages that show the locks to operators who log in |
//! | `shutdown` (`--features axum`) | a service that releases its locks when it is terminated |
//!
//! `cargo run -p lock-examples --example <name>` runs each of them in memory, or on the server in
//! `LOCK_URL`. `cargo run -p lock-example-synchronous` is a program without async, in a package of its
//! own, since it depends only on lock-runtime. `tests/without_redis.rs` shows how to test
//! functions that take locks.
