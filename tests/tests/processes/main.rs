//! Several processes, one lock. The faults that they meet are rows of the fault table (`--test rows`).
//!
//! | risk | file |
//! |---|---|
//! | two are inside at once, or one process crowds the others out | `exclusion` |
//! | of three candidates none leads, or a watch misses or repeats a leader | `campaigns` |
//! | a service that is terminated leaves its locks to their ttls | `terminate` |
//! | a process that holds several locks dies | `several` |
//! | the run of a process that is killed looks as if it went on, or is forgotten | `runs` |
//! | another program's `SET NX PX` is not respected | `foreign` |
//! | Redisson's locks and ours in its record are not exclusive, or one side does not wake the other | `redisson` |

mod campaigns;
mod exclusion;
mod foreign;
mod redisson;
mod runs;
mod scene;
mod several;
mod terminate;
