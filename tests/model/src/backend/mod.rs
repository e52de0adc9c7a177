//! Parts of the runtime, as they ship, under the paths that they have there. What imports anything else does not compile here.

pub(crate) mod engine;
pub(crate) mod redis;
pub(crate) mod wire;
