//! The resource that a lock protects, as a register that betrays every double entry.
//!
//! It is a list in Redis. Whoever is inside reads its length, and later appends an entry that says
//! which length it saw. Alone inside, entry n saw n; two at a time, both saw the same. There is
//! nothing to clean up after a process that was killed in between.

use std::fmt;

use redis::aio::ConnectionLike;
use redis::{Connection, RedisResult};

/// Appends `seen` under `token`, unless the resource is fenced and has seen a later token.
const APPEND: &str = "
local last = redis.call('LINDEX', KEYS[1], -1)
if ARGV[4] == 'fenced' and last and tonumber(last:match('^%d+')) > tonumber(ARGV[1]) then
  return 0
end
redis.call('RPUSH', KEYS[1], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
return 1";

/// The register of one lock.
#[derive(Debug, Clone)]
pub struct History {
    key: String,
    fenced: bool,
}

/// What one visit wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Fencing token of the visit.
    pub token: u64,
    /// Length of the list when the visit began.
    pub seen: usize,
    /// Who it was.
    pub writer: String,
}

impl History {
    /// A register that takes every write.
    pub fn unfenced(lock: &str) -> Self {
        Self {
            key: format!("history:{lock}"),
            fenced: false,
        }
    }

    /// A register that refuses writes with a token lower than the last one. The other kind sees the
    /// same entries.
    pub fn fenced(lock: &str) -> Self {
        Self {
            fenced: true,
            ..Self::unfenced(lock)
        }
    }

    /// The first half of a visit: what there is to see.
    pub async fn look(&self, connection: &mut impl ConnectionLike) -> RedisResult<usize> {
        redis::cmd("LLEN")
            .arg(&self.key)
            .query_async(connection)
            .await
    }

    /// The second half: writes it down. False: refused as stale.
    pub async fn append(
        &self,
        connection: &mut impl ConnectionLike,
        entry: &Entry,
    ) -> RedisResult<bool> {
        redis::cmd("EVAL")
            .arg(APPEND)
            .arg(1)
            .arg(&self.key)
            .arg(entry.token)
            .arg(entry.seen)
            .arg(&entry.writer)
            .arg(if self.fenced { "fenced" } else { "unfenced" })
            .query_async(connection)
            .await
    }

    /// All entries, oldest first.
    pub fn read(&self, connection: &mut Connection) -> Vec<Entry> {
        let lines: Vec<String> = redis::cmd("LRANGE")
            .arg(&self.key)
            .arg(0)
            .arg(-1)
            .query(connection)
            .expect("the register can be read");
        lines.iter().map(|line| Entry::parse(line)).collect()
    }

    /// The entries that did not see the one before them: visits that overlapped another.
    pub fn double_entries(entries: &[Entry]) -> Vec<&Entry> {
        entries
            .iter()
            .enumerate()
            .filter(|(n, entry)| entry.seen != *n)
            .map(|(_, e)| e)
            .collect()
    }

    /// Asserts that visits excluded each other and that their tokens rose.
    #[track_caller]
    pub fn assert_exclusive(entries: &[Entry]) {
        let double = Self::double_entries(entries);
        assert!(
            double.is_empty(),
            "{} double entries, first {}",
            double.len(),
            double[0]
        );
        for pair in entries.windows(2) {
            assert!(
                pair[0].token < pair[1].token,
                "{} came before {}",
                pair[0],
                pair[1]
            );
        }
    }
}

impl Entry {
    fn parse(line: &str) -> Self {
        let mut words = line.split(' ');
        let mut word = || words.next().expect("an entry has three words");
        Self {
            token: word().parse().expect("a token is a number"),
            seen: word().parse().expect("a length is a number"),
            writer: word().to_owned(),
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} that saw {} under token {}",
            self.writer, self.seen, self.token
        )
    }
}
