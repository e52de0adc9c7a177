// The modules of this folder that decide without I/O. `tests/model` includes this file, so it explores what ships.

pub(crate) mod ballot;
pub(crate) mod votes;
