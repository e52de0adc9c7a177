//! Parts of the runtime's `lease`.

include!("../../../../lock-runtime/src/lease/pure.rs");

/// The kind of hold, as far as its end depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Exclusive,
    Write,
    Share,
}

/// [`record`] uses this to parse, which the model never does.
pub(crate) mod owner_id {
    pub(crate) struct OwnerId;

    impl OwnerId {
        pub(crate) const LEN: usize = 22;

        pub(crate) fn parse_prefix(_: &[u8]) -> Option<OwnerId> {
            Some(OwnerId)
        }
    }
}
