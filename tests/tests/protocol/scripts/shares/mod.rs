//! The scripts of readers, permits and writers.

mod acquire;
mod end;
mod lapsed;
mod limit;
mod plain;
mod queue;
mod window;

use super::transcript::transcripts;
