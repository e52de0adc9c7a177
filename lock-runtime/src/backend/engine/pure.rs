// The machines that `tests/model` explores as they ship: it includes this file.

pub(crate) mod competing;
pub(crate) mod ending;
pub(crate) mod handoff;
pub(crate) mod holding;
pub(crate) mod local_queue;
