//! The clock of leases on a server.

use crate::background::clock::Clock;

/// The clock by which leases on a server are counted.
pub(crate) const CLOCK: Clock = Clock::Boot;
