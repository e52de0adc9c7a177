//! A part of the locks that are held, for a page.

use lock_runtime::inspect::{ListingPosition, LockState};
use lock_runtime::{LockClient, LockError};

use crate::report::LockLine;

/// At how many keys a server looks at once; its other clients wait meanwhile, for less than a millisecond.
const KEYS: u32 = 200;

/// A page has so many locks, or up to that many and `KEYS` since what a server has found is shown at once.
const LINES: usize = 100;

/// How often servers are asked for a page at most, where locks are few among other keys.
const LOOKS: usize = 100;

/// How many locks are looked at for a page at most, where few are asked for.
const LOCKS: usize = 2_000;

/// Which locks are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// A pattern of Redis for their keys.
    pub(crate) pattern: Option<String>,
    /// A text in the label of the holder.
    pub(crate) holder: Option<String>,
    /// Only those for which callers wait.
    pub(crate) is_awaited: bool,
}

impl Wanted {
    fn has(&self, lock: &LockState) -> bool {
        let is_by = |text: &String| {
            let mut holders = lock.holders.iter();
            holders.any(|holder| holder.label.contains(text))
        };
        self.holder.as_ref().is_none_or(is_by) && (!self.is_awaited || lock.waiting() > 0)
    }

    /// Whether these are all locks.
    pub(crate) fn is_all(&self) -> bool {
        self.pattern.is_none() && self.holder.is_none() && !self.is_awaited
    }
}

/// A part of a listing.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// In the order of their keys.
    pub(crate) lines: Vec<LockLine>,
    /// Where the next part begins; `None` after the last.
    pub(crate) next: Option<ListingPosition>,
}

/// Asks for the locks after a position, with a bounded number of commands.
pub(crate) async fn read(
    client: &LockClient,
    wanted: &Wanted,
    from: Option<ListingPosition>,
) -> Result<Part, LockError> {
    let mut locks = client.locks().page(KEYS);
    if let Some(pattern) = &wanted.pattern {
        locks = locks.matching(pattern);
    }
    if let Some(from) = from {
        locks = locks.resume(from);
    }
    let (mut lines, mut seen) = (Vec::new(), 0);
    for _ in 0..LOOKS {
        let Some(page) = locks.next_page().await? else {
            break;
        };
        seen += page.len();
        let shown = page.iter().filter(|lock| wanted.has(lock));
        lines.extend(shown.filter_map(LockLine::of));
        if lines.len() >= LINES || seen >= LOCKS {
            break;
        }
    }
    lines.sort_by(|one, other| one.key.cmp(&other.key));
    // A server that rehashes its keys may show one twice.
    lines.dedup_by(|one, other| one.key == other.key);
    Ok(Part {
        lines,
        next: locks.position(),
    })
}
