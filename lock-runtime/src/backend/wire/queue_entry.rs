//! The entry of an owner in a queue.

use std::sync::Arc;

use crate::lease::owner_id::OwnerId;

/// The entry of an owner in a queue: its id, a space and its label, which begins with a tag if the owner asks for
/// a share.
#[derive(Clone, Debug)]
pub(crate) struct QueueEntry {
    pub(crate) owner_id: OwnerId,
    pub(crate) label: Arc<str>,
}
