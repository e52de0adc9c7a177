//! The promises to callers: the contract, on every backend, and how the calls of one client share a lock.
//!
//! | promise | folder |
//! |---|---|
//! | each line of the contract that `conformance` and the fault table do not have | `contract` |
//! | the same behaviour on every backend | `conformance` |
//! | a caller enters a lock that its call tree holds | `reentrancy` |
//! | a campaign stands again if its own lock failed, and only then | `campaigns` |
//! | opposite orders of nested locks are found at once | `lock_order` |
//! | a lease passes from caller to caller of a client | `local_turns` |
//! | what operators see of locks, and do to them, on one server | `operators` |
//! | locks in Redisson's record: what it holds, refuses and listens to | `redissons_record` |
//! | a lease stays with its client for the next caller | `retained` |
//! | a run that cannot be recorded, and what recording sends | `runs` |
//! | a release whose answer is not awaited | `unawaited_releases` |
//! | an acquisition that is dropped leaves nothing | `cancellation` |
//! | a body that is interrupted at each of its awaits by a test | `interrupted_bodies` |
//! | the record is a lock to programs of other kinds, without the failures of locks that are common on Redis | `homemade_locks` |
//! | clients in other languages | `long` |

mod campaigns;
mod cancellation;
mod conformance;
mod contract;
mod homemade_locks;
mod interrupted_bodies;
mod local_turns;
mod lock_order;
mod long;
mod operators;
mod redissons_record;
mod reentrancy;
mod retained;
mod runs;
mod unawaited_releases;
