//! The live view of the locks.

pub(crate) mod draw;
pub(crate) mod row;
pub(crate) mod view;
