//! The scripts of readers, permits and writers.

mod acquire;
mod lapsed;
mod queue;
mod window;

use super::transcript::transcripts;
