//! Builds links between pages.

use std::fmt;

use form_urlencoded::byte_serialize;

use crate::base::Base;

/// A link to an address of the router.
#[derive(Clone, Debug)]
pub(crate) struct Link(String);

impl Link {
    /// A link to a path without a leading slash.
    pub(crate) fn new(base: &Base, path: &str) -> Link {
        Link(format!("{base}{path}"))
    }

    /// Adds a query field. The value may be any text.
    pub(crate) fn with(mut self, field: &str, value: &str) -> Link {
        self.0.push(if self.0.contains('?') { '&' } else { '?' });
        self.0.push_str(field);
        self.0.push('=');
        self.0.extend(byte_serialize(value.as_bytes()));
        self
    }

    /// Adds a query field, unless it is empty.
    pub(crate) fn with_some(self, field: &str, value: Option<&str>) -> Link {
        match value {
            Some(value) => self.with(field, value),
            None => self,
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A link to the page of a lock.
pub(crate) fn to_lock(base: &Base, key: &str) -> Link {
    Link::new(base, "lock").with("key", key)
}
