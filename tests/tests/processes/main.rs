//! Several processes, one lock: what stops, dies or comes late among them, and who is next.
//!
//! | risk | file |
//! |---|---|
//! | a fault of the fault table | `fault_table` |
//! | two are inside at once, or one process crowds the others out | `exclusion` |
//! | a dead holder blocks for ever, dead waiters cost a claim each | `crash` |
//! | a process that stood still goes on as if it held the lock | `pause` |
//! | whoever came later is served first | `order` |
//! | a process ends while its guard is on its way back | `leave` |
//! | a service that is told to end leaves its locks to their ttls | `terminate` |
//! | another program's `SET NX PX` is not respected | `foreign` |

mod crash;
mod exclusion;
mod fault_table;
mod foreign;
mod leave;
mod order;
mod pause;
mod scene;
mod terminate;
