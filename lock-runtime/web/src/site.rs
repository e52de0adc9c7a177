//! What all requests share.

use lock_runtime::LockClient;

use crate::operator::NameOperator;

/// What all requests share.
pub(crate) struct Site {
    pub(crate) client: LockClient,
    /// Names the operator of a request. Without it, nothing can be revoked.
    pub(crate) name_operator: Option<Box<NameOperator>>,
}
