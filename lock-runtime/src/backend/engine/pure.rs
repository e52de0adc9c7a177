// The modules of this folder. `tests/model` includes this file, so it explores what ships.

pub(crate) mod ending;
