// The modules of this folder that decide without I/O. `tests/model` includes this file, so it explores the code that
// ships.

pub(crate) mod first_command;
pub(crate) mod outstanding;
pub(crate) mod reply;
pub(crate) mod settling;
