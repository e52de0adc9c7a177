//! Parts of the runtime, as they ship, under their own paths. A file that imports any other file does not compile here.

pub(crate) mod engine;
pub(crate) mod redis;
pub(crate) mod wire;
