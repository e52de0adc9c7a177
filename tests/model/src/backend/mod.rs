//! Parts of the runtime, as they ship, under the paths that they have there. What imports anything else does not compile here.

#[allow(dead_code, reason = "the runtime asks for more")]
pub(crate) mod wire;
