//! The sentinels that a URL names.

use std::sync::atomic::AtomicU64;

use redis::RedisConnectionInfo;

use super::primary::Primary;
use crate::backend::redis::address::Address;
use crate::backend::wire::error::WireError;

/// The sentinels that watch a primary. There is at least one.
pub(in crate::backend::redis) struct Sentinels {
    /// The name of the primary.
    pub(in crate::backend::redis) name: String,
    pub(in crate::backend::redis) addresses: Vec<Address>,
    /// The login at the sentinels, which is separate from the primary's.
    pub(in crate::backend::redis) login: RedisConnectionInfo,
    /// An address that is reached as the primary is.
    pub(in crate::backend::redis) beside: Address,
    /// The highest epoch of the last answers. Sentinels with a lower one have missed a failover.
    pub(in crate::backend::redis) epoch: AtomicU64,
}

impl Sentinels {
    /// The address to connect to for a primary.
    pub(in crate::backend::redis) fn address_of(
        &self,
        primary: &Primary,
    ) -> Result<Address, WireError> {
        self.beside.beside(&primary.host, primary.port)
    }
}
