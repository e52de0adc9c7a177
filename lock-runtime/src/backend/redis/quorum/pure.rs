// The modules of this folder that decide without I/O. `tests/model` includes this file, so it explores the code that
// ships.

pub(crate) mod ballot;
pub(crate) mod votes;
