//! The state that all requests share.

use lock_runtime::LockClient;

use crate::operator::NameOperator;

/// The state that all requests share.
pub(crate) struct Site {
    pub(crate) client: LockClient,
    /// Names the operator of a request. Without it, no lock can be revoked.
    pub(crate) name_operator: Option<Box<NameOperator>>,
}
