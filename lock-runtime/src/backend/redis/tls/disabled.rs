//! What stands in for TLS without the feature `tls`.

use redis::RedisError;

use crate::backend::wire::Fault;
use crate::error::LockError;
use crate::options::Options;

/// There is none.
pub(in crate::backend::redis) enum Tls {}

impl Tls {
    pub(in crate::backend::redis) fn new(_host: &str, _: &Options) -> Result<Tls, LockError> {
        Err(LockError::invalid_options(
            "`rediss://` needs the feature `tls` of lock-runtime, which this program was built without",
        ))
    }

    pub(in crate::backend::redis) async fn connect<S>(&self, _: S) -> Result<S, Fault> {
        match *self {}
    }
}

pub(in crate::backend::redis) fn refuse_unused(_: &Options) -> Result<(), LockError> {
    Ok(())
}

pub(in crate::backend::redis) fn judge(_: &RedisError) -> Option<Fault> {
    None
}
