//! The names of the records of the locks that one owner holds together.

use std::sync::Arc;

use super::record_names::RecordNames;

/// The names of the records of the locks that one owner holds together, in the order in which they are acquired.
#[derive(Clone, Debug)]
pub(crate) struct NameSet {
    first: RecordNames,
    /// `None` for one lock, which nearly every owner has. A thin pointer, since every owner has it.
    others: Option<Arc<Vec<RecordNames>>>,
}

impl NameSet {
    pub(super) fn new(
        first: RecordNames,
        others: impl ExactSizeIterator<Item = RecordNames>,
    ) -> NameSet {
        let others = (others.len() > 0).then(|| Arc::new(others.collect()));
        NameSet { first, others }
    }

    pub(crate) fn first(&self) -> &RecordNames {
        &self.first
    }

    pub(crate) fn is_one(&self) -> bool {
        self.others.is_none()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &RecordNames> {
        std::iter::once(&self.first).chain(self.others.iter().flat_map(|others| others.iter()))
    }
}

impl From<RecordNames> for NameSet {
    fn from(first: RecordNames) -> NameSet {
        let others = None;
        NameSet { first, others }
    }
}
