// The machines that `tests/model` explores. It includes this file, so it explores the code that ships.

pub(crate) mod competing;
pub(crate) mod ending;
pub(crate) mod handoff;
pub(crate) mod holding;
pub(crate) mod local_queue;
