//! A listing of held locks.

use std::fmt;
use std::sync::Arc;

use crate::backend::wire::inspection::{Cursor, Listing};
use crate::client::core::Core;
use crate::error::LockError;
use crate::state::{ListedLock, ListingPosition};

/// How many keys a server scans for each page by default.
const PAGE: u32 = 250;

/// The most keys that a server may be asked to scan at once: more than half a millisecond of its time.
const MAX_PAGE: u32 = 1_000;

/// Lists held locks, page by page; created by [`LockClient::locks`](crate::LockClient::locks).
///
/// A lock that anyone holds from the first call of [`next_page`](Locks::next_page) to the last is listed at least once.
/// A lock that is acquired or released meanwhile may be listed. A lock may be listed twice if its server rehashes its
/// keys, if the connection is replaced, or in a cluster if its slot moves. If one slot moves twice during the listing,
/// a lock may be missing. On a quorum, a lock is listed if a majority has it, or may have it because nodes did not answer:
/// its [`votes`](ListedLock::votes) tell which.
#[must_use = "nothing is read before `next_page`"]
pub struct Locks {
    core: Arc<Core>,
    keys: String,
    page: u32,
    cursor: Cursor,
}

impl Locks {
    pub(super) fn new(core: Arc<Core>) -> Locks {
        Locks {
            core,
            keys: "*".to_owned(),
            page: PAGE,
            cursor: Cursor::default(),
        }
    }

    /// Lists only locks whose keys match a Redis pattern, such as `order:*`, and restarts the listing.
    ///
    /// `*` matches any text, `?` one byte, `[ab]` one of these, and `\` takes the next byte literally. The pattern does
    /// not include the client's prefix.
    pub fn matching(mut self, pattern: impl Into<String>) -> Locks {
        self.keys = pattern.into();
        self.cursor = Cursor::default();
        self
    }

    /// Sets how many keys a server scans for each page, 1 to 1000. Default: 250, which takes it about 0.2 ms. A page
    /// has about as many locks, or fewer if the server has other keys.
    pub fn page_size(mut self, keys: u32) -> Locks {
        self.page = keys.clamp(1, MAX_PAGE);
        self
    }

    /// Continues a listing of the same keys, from this process or another one.
    ///
    /// The position does not include the locks already listed, so the guarantee is weaker than for one listing: locks
    /// may be listed twice or be missing if a server is restarted or replaced in between, if a cluster's slot moves, or
    /// if a quorum node gets back its record of a lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// use lock_runtime::inspect::ListingPosition;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// let _first = client.lock("order:1").acquire().await?;
    /// let _second = client.lock("order:2").acquire().await?;
    ///
    /// let mut locks = client.locks().page_size(1);
    /// let page = locks.next_page().await?.unwrap_or_default();
    /// assert_eq!(page[0].key.as_str(), "order:1");
    /// let link = locks.position().expect("there is more").to_string();
    ///
    /// // Later, with nothing but the text:
    /// let position: ListingPosition = link.parse().expect("it was not changed");
    /// let mut locks = client.locks().page_size(1).resume(position);
    /// let page = locks.next_page().await?.unwrap_or_default();
    /// assert_eq!(page[0].key.as_str(), "order:2");
    /// assert_eq!(locks.position(), None);
    /// # Ok(()) }
    /// ```
    pub fn resume(mut self, position: ListingPosition) -> Locks {
        self.cursor = Cursor::resumed(position);
        self
    }

    /// Reads the next page; returns `None` after the last one.
    ///
    /// A page may be empty before the last one: the servers scan [`page_size`](Locks::page_size) keys, which may all be
    /// other keys than locks.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Rejected` if a permission is missing, `Shutdown` in a forked process. The call can be repeated. On a
    /// quorum, a minority of nodes that fail or refuse is skipped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the next call returns this page.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// let _held = client.lock("order:42").acquire().await?;
    /// let mut locks = client.locks().matching("order:*");
    /// let mut keys = Vec::new();
    /// while let Some(page) = locks.next_page().await? {
    ///     keys.extend(page.into_iter().map(|lock| lock.key));
    /// }
    /// assert_eq!(keys, ["order:42".into()]);
    /// # Ok(()) }
    /// ```
    pub async fn next_page(&mut self) -> Result<Option<Vec<ListedLock>>, LockError> {
        if self.cursor.is_over {
            return Ok(None);
        }
        let prefix = self.core.options.prefix.clone();
        let listing = Listing {
            pattern: format!("{}{}", escaped(&prefix), self.keys),
            prefix,
            keys: self.keys.clone(),
            count: self.page,
        };
        let states = self.core.backend.page(&listing, &mut self.cursor).await?;
        let page: Vec<_> = states.into_iter().filter_map(ListedLock::of).collect();
        let is_end = page.is_empty() && self.cursor.is_over;
        Ok((!is_end).then_some(page))
    }

    /// Returns how far the listing has come; `None` after the last page.
    #[must_use]
    pub fn position(&self) -> Option<ListingPosition> {
        self.cursor.at()
    }
}

/// Returns a pattern that matches only this text.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '^' | '-' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

impl fmt::Debug for Locks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locks")
            .field("matching", &self.keys)
            .field("page", &self.page)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_is_literal_in_a_pattern() {
        assert_eq!(escaped("lock:"), "lock:");
        assert_eq!(escaped(r"a*b?[c]^d-e\"), r"a\*b\?\[c\]\^d\-e\\");
    }
}
