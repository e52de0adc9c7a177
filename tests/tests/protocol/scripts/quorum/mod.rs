//! The scripts of one node of a quorum.

mod acquire;
mod choice;
mod end;
mod marker;
pub(crate) mod node;
mod proposal;
mod random;
mod yielding;

use super::TTL;
use super::transcript::transcripts;

/// The restart delay, unless a test chooses another.
const DELAY: i64 = 60_000;
