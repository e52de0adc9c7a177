//! The future of an acquisition, dropped at every poll and at thousands of random moments: nothing
//! of it may be left.
//!
//! Each drop has a key of its own. The server's clock stands still, so that no lease, claim or queue
//! entry ends by itself: what is gone was taken back.

mod case;
mod moment;
mod polls;
mod random;
mod world;
