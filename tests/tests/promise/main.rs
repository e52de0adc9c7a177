//! The promises to callers: the contract, on each backend, and how calls of one client share a lock.
//!
//! | promise | folder |
//! |---|---|
//! | each line of the contract in the crate's documentation | `contract` |
//! | the same behaviour on every backend | `conformance` |
//! | a caller enters a lock that its call tree holds | `reentrancy` |
//! | a lease passes from caller to caller of a client | `local_turns` |
//! | what operators see of locks, and do to them, on one server | `operators` |
//! | locks in Redisson's record: what it holds, refuses and listens to | `redissons_record` |
//! | a lease stays with its client for the next caller | `retained` |
//! | a release whose answer is not awaited | `unawaited_releases` |
//! | an acquisition that is dropped leaves nothing | `cancellation` |
//! | clients of Redlock from other languages, on the nodes of a quorum | `redlock_clients` |
//! | what is good about common locks on Redis, without their failures | `homemade_locks` |

mod cancellation;
mod conformance;
mod contract;
mod homemade_locks;
mod local_turns;
mod operators;
mod packages;
mod redissons_record;
mod redlock_clients;
mod reentrancy;
mod retained;
mod unawaited_releases;
