//! Reads locks without holding them: the commands, and the meaning of their answers.
//!
//! [`lock_record`] reads the value of one lock, [`snapshot`] all records of it, and [`scan`] finds the locks of one
//! node. None of them writes.

pub(super) mod scan;
pub(super) mod snapshot;
pub(super) mod string_record;
