//! Parts of the runtime's `lease`.

include!("../../../../lock-runtime/src/lease/pure.rs");

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
