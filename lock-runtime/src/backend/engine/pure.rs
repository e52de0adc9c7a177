// The machines that the model can include as they ship: `tests/model` includes this file.

pub(crate) mod competing;
pub(crate) mod handoff;
