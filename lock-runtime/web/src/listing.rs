//! Lists a page of the held locks, with bounded work.

use lock_runtime::inspect::{ListedLock, ListingPosition};
use lock_runtime::{LockClient, LockError};

/// How many keys a server scans at once. Its other clients wait for less than a millisecond meanwhile.
const KEYS: u32 = 200;

/// The locks of a page. It may have up to `KEYS` more, since everything that a SCAN found is shown.
const LINES: usize = 100;

/// The most scans for a page, if locks are few among other keys.
const LOOKS: usize = 100;

/// The most locks that are read for a page, if few match.
const LOCKS: usize = 2_000;

/// The filters of a listing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// A Redis pattern for keys.
    pub(crate) pattern: Option<String>,
    /// A text that the holder's label must contain.
    pub(crate) holder: Option<String>,
    /// Only locks that callers wait for.
    pub(crate) is_awaited: bool,
}

impl Wanted {
    fn has(&self, lock: &ListedLock) -> bool {
        let is_by = |text: &String| lock.holder.label.contains(text);
        self.holder.as_ref().is_none_or(is_by) && (!self.is_awaited || lock.waiter_count > 0)
    }

    /// Returns whether the filters select all locks.
    pub(crate) fn is_all(&self) -> bool {
        self.pattern.is_none() && self.holder.is_none() && !self.is_awaited
    }
}

/// A page of a listing.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// In the order of their keys.
    pub(crate) locks: Vec<ListedLock>,
    /// The position of the next page; `None` after the last.
    pub(crate) next: Option<ListingPosition>,
}

/// Reads the locks after a position, with a bounded number of commands.
pub(crate) async fn read(
    client: &LockClient,
    wanted: &Wanted,
    from: Option<ListingPosition>,
) -> Result<Part, LockError> {
    let mut locks = client.locks().page_size(KEYS);
    if let Some(pattern) = &wanted.pattern {
        locks = locks.matching(pattern);
    }
    if let Some(from) = from {
        locks = locks.resume(from);
    }
    let (mut found, mut seen) = (Vec::new(), 0);
    for _ in 0..LOOKS {
        let Some(page) = locks.next_page().await? else {
            break;
        };
        seen += page.len();
        found.extend(page.into_iter().filter(|lock| wanted.has(lock)));
        if found.len() >= LINES || seen >= LOCKS {
            break;
        }
    }
    found.sort_by(|one, other| one.key.cmp(&other.key));
    // A server that rehashes its keys may return a key twice.
    found.dedup_by(|one, other| one.key == other.key);
    Ok(Part {
        locks: found,
        next: locks.position(),
    })
}
