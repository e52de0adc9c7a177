// The machine that `tests/model` explores as it ships: it includes this file.

pub(crate) mod ending;
