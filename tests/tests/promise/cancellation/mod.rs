//! The future of an acquisition, dropped at every poll, must leave no trace. Row `acquire_dropped` has random moments.
//!
//! Each drop has a key of its own. The server's clock stands still, so that no lease, claim or queue
//! entry expires: a record that is gone was removed by the client.

mod asking;
mod case;
mod moment;
mod polls;
mod world;
