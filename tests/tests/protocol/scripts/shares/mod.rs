//! The scripts of readers, permits and writers.

mod acquire;
mod lapsed;
mod plain;
mod queue;
mod window;

use super::transcript::transcripts;
