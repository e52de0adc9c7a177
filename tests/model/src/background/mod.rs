//! Parts of the runtime's `background`.

include!("../../../../lock-runtime/src/background/pure.rs");
