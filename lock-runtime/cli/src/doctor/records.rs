//! The other records of locks: fences and queues, found by their names.

use std::time::Duration;

use lock_runtime::inspect::{Answer, LockState};

use super::finding::Finding;
use crate::output::Brief;

/// How long after its last poll a waiter counts as gone.
const GONE: Duration = Duration::from_secs(6);

/// The part of a server's memory (%) that fences may take without a warning.
const MUCH: u64 = 25;

/// The records found on one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Records {
    /// The number of fences.
    pub(crate) fences: u64,
    /// Names of some of them.
    pub(crate) examples: Vec<String>,
    /// The newest token of a fence (µs).
    pub(crate) newest: Option<i64>,
    /// Keys of locks with a queue.
    pub(crate) queues: Vec<String>,
    /// The server has further keys, which were not scanned.
    pub(crate) is_part: bool,
}

/// The pattern of the names of all fences and queues.
pub(crate) fn pattern(prefix: &str) -> String {
    let mut pattern = "*".to_owned();
    for character in prefix.chars() {
        if "*?[]\\^-".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern + "*:[fw]"
}

/// Parses the cursor and the names in the answer to SCAN; `None` if it was refused.
pub(crate) fn scanned(answer: Answer) -> Option<(String, Vec<String>)> {
    let Answer::List(parts) = answer else {
        return None;
    };
    let parts: [Answer; 2] = parts.try_into().ok()?;
    let [Answer::Text(cursor), Answer::List(names)] = parts else {
        return None;
    };
    let text = |name| match name {
        Answer::Text(name) => Some(name),
        _ => None,
    };
    Some((cursor, names.into_iter().filter_map(text).collect()))
}

impl Records {
    /// How many names are kept as examples of each kind.
    pub(crate) const EXAMPLES: usize = 20;

    /// Adds a name. Returns whether it is a fence's.
    pub(crate) fn add(&mut self, name: &str, prefix: &str) -> bool {
        let Some((lock, kind)) = name.rsplit_once(':') else {
            return false;
        };
        // A name without a hash tag became the tag as a whole.
        let whole = lock
            .strip_prefix('{')
            .and_then(|lock| lock.strip_suffix('}'));
        let tagged = Some(lock).filter(|lock| lock.contains('{'));
        let Some(key) = whole.or(tagged).and_then(|lock| lock.strip_prefix(prefix)) else {
            // A lock whose key ends with the suffix, or another program's key.
            return false;
        };
        match kind {
            "f" => {
                self.fences += 1;
                if self.examples.len() < Records::EXAMPLES {
                    self.examples.push(name.to_owned());
                }
                true
            }
            "w" if self.queues.len() < Records::EXAMPLES => {
                self.queues.push(key.to_owned());
                false
            }
            _ => false,
        }
    }

    /// Adds the tokens of fences.
    pub(crate) fn add_tokens(&mut self, fences: &[Answer]) {
        let tokens = fences.iter().filter_map(|fence| match fence {
            Answer::Text(token) => token.trim().parse().ok(),
            _ => None,
        });
        self.newest = self.newest.max(tokens.max());
    }

    /// The finding about fences, from MEMORY USAGE of the examples and the server's memory limit.
    pub(crate) fn of_fences(&self, usage: &[Answer], limit: Option<u64>) -> Finding {
        let sizes = usage.iter().filter_map(|size| match size {
            Answer::Integer(size) => u64::try_from(*size).ok(),
            _ => None,
        });
        let sizes: Vec<u64> = sizes.collect();
        let each = sizes.iter().sum::<u64>().checked_div(sizes.len() as u64);
        let least = if self.is_part { "at least " } else { "" };
        let mut shown = format!("{least}{}", self.fences);
        if let Some(each) = each {
            shown += &format!(", {each} bytes each");
        }
        let taken = each.unwrap_or(0) * self.fences;
        match limit.filter(|limit| taken * 100 >= limit * MUCH) {
            None => Finding::ok("fences", shown),
            Some(limit) => Finding::warn("fences", format!("{shown}, of {} MB", limit >> 20)).since(
                "each key that was locked within a day has one, and a full server refuses locks",
                "raise maxmemory, use fewer distinct keys, or lower fence_retention",
            ),
        }
    }
}

/// The finding about queues, from the locks that have one; none if nobody waits.
pub(crate) fn of_queues(locks: &[LockState]) -> Option<Finding> {
    let first = |lock: &LockState| lock.waiters.first().map(|waiter| waiter.last_seen);
    let mut queued = locks.iter().filter(|lock| first(lock).is_some()).peekable();
    queued.peek()?;
    let mut gone = queued.filter(|lock| first(lock).is_some_and(|seen| seen >= GONE));
    let Some(lock) = gone.next() else {
        let (longest, lock) = locks
            .iter()
            .filter_map(|lock| Some((lock.longest_wait()?, lock)))
            .max_by_key(|(longest, _)| *longest)?;
        let (longest, key) = (Brief::of(Some(longest)), lock.key.as_str());
        let shown = format!("the first waiters are alive; the oldest wait is {longest}, for {key}");
        return Some(Finding::ok("queues", shown));
    };
    let seen = first(lock).unwrap_or_default().as_secs();
    let shown = match gone.count() {
        0 => format!(
            "{}, whose first waiter was last seen {seen} s ago",
            lock.key.as_str()
        ),
        others => format!(
            "{} and {others} others, whose first waiters are gone",
            lock.key.as_str()
        ),
    };
    Some(Finding::warn("queues", shown).since(
        "a process that waited has died or hangs: it is skipped, and its work was not done",
        "`lockctl inspect` names it: check its logs",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn fences_and_queues_are_known_by_their_names() {
        let mut records = Records::default();
        for (name, is_fence) in [
            ("{lock:order:1}:f", true),
            ("lock:user:{7}:x:f", true),
            ("{lock:order:1}:w", false),
            ("{other:lock:1}:f", false),
            ("lock:user:f", false),
            ("{lock:order:1}:r", false),
        ] {
            assert_eq!(records.add(name, "lock:"), is_fence, "{name}");
        }
        // `lock:user:f` is the lock of a user called `f`.
        assert_eq!(records.fences, 2, "{records:?}");
        assert_eq!(records.queues, ["order:1"]);
        assert_eq!(pattern("a*b:"), "*a\\*b:*:[fw]");
        let text = |text: &str| Answer::Text(text.to_owned());
        records.add_tokens(&[text("16"), Answer::Nil, text("1600000000000000")]);
        records.add_tokens(&[text("x"), text("17")]);
        assert_eq!(records.newest, Some(1_600_000_000_000_000));
    }

    #[test]
    fn fences_are_compared_only_with_the_memory_limit() {
        let records = Records {
            fences: 1_000,
            ..Records::default()
        };
        let usage = [Answer::Integer(100), Answer::Integer(200), Answer::Nil];
        let found = records.of_fences(&usage, None);
        assert_eq!(
            (found.verdict, &*found.value),
            (Verdict::Ok, "1000, 150 bytes each")
        );
        assert_eq!(
            records.of_fences(&usage, Some(600_001)).verdict,
            Verdict::Ok
        );
        assert_eq!(
            records.of_fences(&usage, Some(600_000)).verdict,
            Verdict::Warn
        );
        let refused = [Answer::Error("NOPERM".to_owned())];
        let part = Records {
            is_part: true,
            ..records
        };
        assert_eq!(part.of_fences(&refused, Some(1)).value, "at least 1000");
    }

    #[test]
    fn answer_to_a_scan_has_a_cursor_and_names() {
        let text = |text: &str| Answer::Text(text.to_owned());
        let answer = Answer::List(vec![text("17"), Answer::List(vec![text("a"), text("b")])]);
        let names = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(scanned(answer), Some(("17".to_owned(), names)));
        assert_eq!(scanned(Answer::Error("NOPERM".to_owned())), None);
    }
}
