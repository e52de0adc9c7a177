//! One value for each lock that is held together with others.

use std::fmt;
use std::sync::Arc;

/// A value for each lock that one lease holds, in the order of acquisition; never empty.
#[derive(Clone)]
pub(crate) struct OneOrMore<T> {
    first: T,
    /// `None` for one lock, which nearly every lease has. A thin pointer, since every lease has it.
    others: Option<Arc<Vec<T>>>,
}

impl<T> OneOrMore<T> {
    /// Creates a list of the values in this order; `None` if there are none.
    pub(super) fn of(mut values: impl ExactSizeIterator<Item = T>) -> Option<OneOrMore<T>> {
        let first = values.next()?;
        let others = (values.len() > 0).then(|| Arc::new(values.collect()));
        Some(OneOrMore { first, others })
    }

    pub(crate) fn first(&self) -> &T {
        &self.first
    }

    pub(crate) fn is_one(&self) -> bool {
        self.others.is_none()
    }

    pub(crate) fn len(&self) -> usize {
        1 + self.others.as_ref().map_or(0, |others| others.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(self.others.iter().flat_map(|others| others.iter()))
    }

    /// Maps the value of each lock.
    pub(super) fn map<U>(&self, value: impl Fn(&T) -> U) -> OneOrMore<U> {
        OneOrMore {
            first: value(&self.first),
            others: self
                .others
                .as_ref()
                .map(|others| Arc::new(others.iter().map(value).collect())),
        }
    }
}

impl<T> From<T> for OneOrMore<T> {
    fn from(first: T) -> OneOrMore<T> {
        OneOrMore {
            first,
            others: None,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for OneOrMore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
