// The machines that the model can include as they ship: `tests/model` includes this file.

pub(crate) mod competing;
pub(crate) mod handoff;
pub(crate) mod holding;
pub(crate) mod local_queue;
