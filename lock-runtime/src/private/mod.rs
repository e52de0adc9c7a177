//! What generated code calls. No part of the public interface.

pub(crate) mod body;
