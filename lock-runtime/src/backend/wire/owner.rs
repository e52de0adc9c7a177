//! An owner as a server knows it.

use std::any::Any;
use std::sync::Arc;

use crate::backend::wire::outstanding::Outstanding;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::owner_id::OwnerId;
use crate::lease::{Mode, Share};

/// An owner, the records that it holds or queues for, and its outstanding commands.
///
/// A wire sends the commands of one owner one after the other and notes each of them in `outstanding`.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) entry: QueueEntry,
    pub(crate) names: OneOrMore<RecordNames>,
    pub(crate) mode: Mode,
    pub(crate) outstanding: Outstanding,
    /// The wire's own state for the owner between commands. It is dropped with the owner.
    pub(crate) kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl Owner {
    /// Creates an owner whose holder has this label.
    pub(crate) fn new(
        owner_id: OwnerId,
        label: &Arc<str>,
        names: OneOrMore<RecordNames>,
        mode: Mode,
    ) -> Owner {
        let label = mode.entry_label(label);
        Owner {
            entry: QueueEntry { owner_id, label },
            names,
            mode,
            outstanding: Outstanding::default(),
            kept: None,
        }
    }

    /// Turns an owner that holds the lock exclusively into one of its readers.
    pub(crate) fn become_reader(&mut self) {
        self.mode = Mode::Share(Share::READ);
        self.entry.label = self.mode.entry_label(&self.entry.label);
    }

    pub(crate) fn id(&self) -> OwnerId {
        self.entry.owner_id
    }
}

/// The entry of an owner in a queue: its id, a space and its label. If the owner asks for a share, a tag precedes the
/// label.
#[derive(Clone, Debug)]
pub(crate) struct QueueEntry {
    pub(crate) owner_id: OwnerId,
    pub(crate) label: Arc<str>,
}
