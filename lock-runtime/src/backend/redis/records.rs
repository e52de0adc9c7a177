//! Reads locks without holding them, by commands that do not write.
//!
//! [`lock_record`] parses the value of one lock, [`snapshot`] reads all of its records, and [`scan`] finds the locks of
//! one node.

pub(super) mod scan;
pub(super) mod snapshot;
pub(super) mod string_record;
