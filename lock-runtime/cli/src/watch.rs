//! The live view of the locks.

pub(crate) mod column;
pub(crate) mod draw;
pub(crate) mod inspected;
pub(crate) mod look;
pub(crate) mod pace;
pub(crate) mod row;
pub(crate) mod text;
pub(crate) mod update;
pub(crate) mod view;
