//! Parts of the runtime's `lease`.

include!("../../../../lock-runtime/src/lease/pure.rs");

/// How a lock is held, as far as its end depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Exclusive,
    Write,
    Share,
}

/// What [`record`] needs to parse, which the model does not do.
pub(crate) mod owner_id {
    pub(crate) struct OwnerId;

    impl OwnerId {
        pub(crate) const LEN: usize = 22;

        pub(crate) fn parse_prefix(_: &[u8]) -> Option<OwnerId> {
            Some(OwnerId)
        }
    }
}
