//! The resource that a lock protects, as a register that reveals every double entry.
//!
//! The register is a list in a Redis of its own. A visit reads the list's length, and later appends an entry with the
//! length that it read. If visits exclude each other, visit n reads n; two concurrent visits read the same number. A
//! process that is killed in between leaves nothing to clean up.
//!
//! A visit under a share of the lock appends such an entry, too, with the share. It may overlap the visits of other
//! shares, as long as their permits do not exceed the highest limit among them.
//!
//! The register is two resources in one. An unfenced one takes every entry. A fenced one refuses
//! entries whose token is lower than the highest that any reader or writer has shown.

use std::fmt;

use redis::aio::ConnectionLike;
use redis::{Connection, RedisResult};

use crate::scene::ask;
use crate::shares::Share;

/// Shows the token, and returns the length.
const LOOK: &str = "
if tonumber(ARGV[1]) > tonumber(redis.call('GET', KEYS[2]) or 0) then
  redis.call('SET', KEYS[2], ARGV[1])
end
return redis.call('LLEN', KEYS[1])";

/// Appends an entry, and returns the answer of a fenced resource.
const APPEND: &str = "
local taken = tonumber(ARGV[1]) >= tonumber(redis.call('GET', KEYS[2]) or 0)
if taken then
  redis.call('SET', KEYS[2], ARGV[1])
end
redis.call('RPUSH', KEYS[1],
  table.concat({ ARGV[1], ARGV[2], ARGV[3], ARGV[4], taken and 'taken' or 'refused' }, ' '))
return taken and 1 or 0";

/// In the line of an exclusive visit, in place of a share.
const ALONE: &str = "alone";

#[derive(Debug, Clone)]
pub struct History {
    entries: String,
    fence: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub token: u64,
    /// Length of the list when the visit began.
    pub seen: usize,
    /// The visitor: a process, or `PROCESS.TASK`.
    pub writer: String,
    /// The visitor's share of the lock; none for an exclusive visit.
    pub share: Option<Share>,
}

/// An entry, and whether a fenced resource accepted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub entry: Entry,
    /// False: the entry was refused, because a higher token had been shown before.
    pub taken: bool,
}

impl History {
    /// The register of this lock.
    pub fn of(lock: &str) -> Self {
        Self {
            entries: format!("history:{lock}"),
            fence: format!("history:{lock}:fence"),
        }
    }

    /// The first half of a visit: reads the register.
    pub async fn look(
        &self,
        connection: &mut impl ConnectionLike,
        token: u64,
    ) -> RedisResult<usize> {
        self.eval(LOOK).arg(token).query_async(connection).await
    }

    /// The second half: appends the entry. False: a fenced resource refuses it as stale.
    pub async fn append(
        &self,
        connection: &mut impl ConnectionLike,
        entry: &Entry,
    ) -> RedisResult<bool> {
        let share = entry.share.map(|share| share.to_string());
        let share = share.as_deref().unwrap_or(ALONE);
        self.eval(APPEND)
            .arg(entry.token)
            .arg(entry.seen)
            .arg(&entry.writer)
            .arg(share)
            .query_async(connection)
            .await
    }

    /// All entries, oldest first, as in an unfenced resource.
    pub fn read(&self, connection: &mut Connection) -> Vec<Entry> {
        let written = self.read_written(connection);
        written.into_iter().map(|written| written.entry).collect()
    }

    /// All entries, oldest first, each with the answer of a fenced resource.
    pub fn read_written(&self, connection: &mut Connection) -> Vec<Written> {
        let lines: Vec<String> = ask(connection, &["LRANGE", &self.entries, "0", "-1"]);
        lines.iter().map(|line| Written::parse(line)).collect()
    }

    /// The visits during which another visit ended although the two must not overlap. If two visits
    /// overlap, the one that ends later is reported.
    pub fn double_entries(entries: &[Entry]) -> Vec<&Entry> {
        let is_double = |&(n, entry): &(usize, &Entry)| match entries.get(entry.seen..n) {
            Some(since) => since.iter().any(|other| other.excludes(entry)),
            // The register was shorter at the end of the visit than at its start.
            None => true,
        };
        let entries = entries.iter().enumerate();
        entries.filter(is_double).map(|(_, entry)| entry).collect()
    }

    /// The visits at whose end the permits inside exceeded the highest limit among them, each with
    /// the permits and the limit.
    ///
    /// At the end of visit n, the visits inside are those that end no earlier and began when the
    /// register had at most n entries. Only ends lower the sum, so it is highest at an end.
    pub fn overfull_entries(entries: &[Entry]) -> Vec<(&Entry, u32, u32)> {
        let mut inside = vec![(0, 0); entries.len()];
        for (n, entry) in entries.iter().enumerate() {
            // A reader may join any number of permits.
            let Some(share) = entry.share.filter(|share| share.limit > 0) else {
                continue;
            };
            for (taken, limit) in inside.iter_mut().take(n + 1).skip(entry.seen) {
                *taken += share.take;
                *limit = share.limit.max(*limit);
            }
        }
        let sums = entries.iter().zip(inside);
        let overfull = sums.filter(|(_, (taken, limit))| taken > limit);
        overfull
            .map(|(entry, (taken, limit))| (entry, taken, limit))
            .collect()
    }

    /// The visits that a fenced resource accepted although it had accepted another since they
    /// began, which they must not overlap: the damage that a token must prevent.
    pub fn stale_writes(written: &[Written]) -> Vec<&Written> {
        written
            .iter()
            .enumerate()
            .filter(|(n, late)| {
                let since = written.get(late.entry.seen..*n).unwrap_or_default();
                let is_in_the_way =
                    |other: &Written| other.taken && other.entry.excludes(&late.entry);
                late.taken && since.iter().any(is_in_the_way)
            })
            .map(|(_, late)| late)
            .collect()
    }

    /// Asserts that visits excluded each other.
    #[track_caller]
    pub fn assert_no_double_entries(entries: &[Entry]) {
        let double = Self::double_entries(entries);
        assert!(
            double.is_empty(),
            "{} double entries, first {}",
            double.len(),
            double[0]
        );
    }

    /// Asserts that visits excluded each other and that their tokens rose.
    #[track_caller]
    pub fn assert_exclusive(entries: &[Entry]) {
        Self::assert_no_double_entries(entries);
        for pair in entries.windows(2) {
            assert!(
                pair[0].token < pair[1].token,
                "{} came before {}",
                pair[0],
                pair[1]
            );
        }
    }

    fn eval(&self, script: &str) -> redis::Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(2).arg(&self.entries);
        command.arg(&self.fence);
        command
    }
}

impl Entry {
    pub fn process(&self) -> &str {
        let process = self.writer.split('.').next();
        process.expect("a split has a first part")
    }

    /// Whether the two visits must not overlap.
    fn excludes(&self, other: &Self) -> bool {
        self.share.is_none() || other.share.is_none()
    }
}

impl Written {
    fn parse(line: &str) -> Self {
        let mut words = line.split(' ');
        let mut word = || words.next().expect("an entry has five words");
        Self {
            entry: Entry {
                token: word().parse().expect("a token is a number"),
                seen: word().parse().expect("a length is a number"),
                writer: word().to_owned(),
                share: match word() {
                    ALONE => None,
                    share => Some(Share::parse(share)),
                },
            },
            taken: word() == "taken",
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            writer,
            seen,
            token,
            share,
        } = self;
        write!(f, "{writer} that saw {seen} under token {token}")?;
        match share {
            Some(share) => write!(f, " with share {share}"),
            None => Ok(()),
        }
    }
}
