//! The scripts of locks that several owners share, one call each.

use std::fmt;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use redis::{RedisResult, Script};

use crate::ask;
use crate::raw::{Answer, RawLock, entry, owner, remembering};
use crate::sources;

/// `share_acquire`, as a client sends it.
pub static SHARE_ACQUIRE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::SHARE_ACQUIRE));
static SHARE_RENEW: LazyLock<Script> = LazyLock::new(|| Script::new(sources::SHARE_RENEW));
static SHARE_RELEASE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::SHARE_RELEASE));
/// The script that ends an owner of a lock that may be shared.
pub static SHARE_END: LazyLock<Script> = LazyLock::new(|| Script::new(sources::SHARE_END));

/// How much an owner takes of a shared lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How much it takes.
    pub take: u32,
    /// The total that may be taken; 0 is without limit.
    pub limit: u32,
}

/// The share of a reader.
pub const READ: Share = Share { take: 1, limit: 0 };

impl Share {
    /// `take` of `limit` permits.
    pub const fn permits(take: u32, limit: u32) -> Self {
        Self { take, limit }
    }

    /// Owner `who` with the tag of this share and its label.
    pub fn entry(self, who: char) -> String {
        let owner = owner(who);
        let label = &entry(who)[owner.len() + 1..];
        format!("{owner} \u{1f}{self}\u{1f}{label}")
    }

    /// A share as `take/limit`.
    pub(crate) fn parse(text: &str) -> Self {
        let share = text.split_once('/').and_then(|(take, limit)| {
            let (take, limit) = (take.parse().ok()?, limit.parse().ok()?);
            Some(Self { take, limit })
        });
        share.unwrap_or_else(|| panic!("no share: {text}"))
    }

    /// The member of R for `who`.
    pub fn member(self, who: char) -> String {
        match self.take {
            1 => owner(who),
            take => format!("{}*{take}", owner(who)),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.take, self.limit)
    }
}

static REVOKE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::REVOKE));

impl RawLock {
    /// `revoke` of the holder with this token.
    pub fn revoke(&mut self, token: i64, notice: &str) -> RedisResult<i64> {
        self.run_revoke(&[&token.to_string(), "", "-1", notice])
    }

    /// `revoke` of another program's record, by its first bytes and its length.
    pub fn revoke_record(&mut self, shown: &str, length: i64, notice: &str) -> RedisResult<i64> {
        self.run_revoke(&["0", shown, &length.to_string(), notice])
    }

    /// `revoke` of an owner that had no token when the operator saw it.
    pub fn revoke_owner(&mut self, who: char, notice: &str) -> RedisResult<i64> {
        self.run_revoke(&["0", &crate::owner(who), "-2", notice])
    }

    fn run_revoke(&mut self, args: &[&str]) -> RedisResult<i64> {
        self.call(&REVOKE, "kfqr", args)
    }

    /// `share_acquire`, queueing if the share has to wait.
    pub fn share(&mut self, who: char, share: Share, ttl: i64) -> RedisResult<Answer> {
        let args = [&*share.entry(who), &ttl.to_string()];
        self.run((sources::SHARE_ACQUIRE, who), "kfqr", &args)
    }

    /// `share_acquire` of a holder that becomes a reader, so long after the grant (ms): flag and token, or none if it
    /// holds nothing.
    pub fn downgrade(
        &mut self,
        who: char,
        share: Share,
        ttl: i64,
        age: i64,
    ) -> RedisResult<Option<String>> {
        let script = remembering(sources::SHARE_ACQUIRE, (self.memory_of)(who));
        let granted_at = (self.now() - 1_000 * age).to_string();
        let args = [&*share.entry(who), &(-ttl).to_string(), &granted_at];
        self.call(&script, "kfqr", &args)
    }

    /// `share_renew`: flag and token, or none if there is no such share.
    pub fn renew_share(
        &mut self,
        who: char,
        share: Share,
        ttl: i64,
    ) -> RedisResult<Option<String>> {
        self.call(&SHARE_RENEW, "kr", &[&share.member(who), &ttl.to_string()])
    }

    pub fn release_share(&mut self, who: char, share: Share) -> RedisResult<i64> {
        self.call(&SHARE_RELEASE, "kr", &[&share.member(who)])
    }

    /// `share_end` of an owner that asked for a share.
    pub fn end_share(&mut self, who: char, share: Share) -> RedisResult<Answer> {
        self.run((sources::SHARE_END, who), "kfqr", &[&share.entry(who)])
    }

    /// `acquire` of a writer, which also names R.
    pub fn write(&mut self, who: char, ttl: i64) -> RedisResult<Answer> {
        self.run(
            (sources::ACQUIRE, who),
            "kfqr",
            &[&entry(who), &ttl.to_string()],
        )
    }

    /// `share_end` of a writer.
    pub fn end_write(&mut self, who: char) -> RedisResult<Answer> {
        self.run((sources::SHARE_END, who), "kfqr", &[&entry(who)])
    }

    /// Every member of R with its score, `=` included.
    pub fn shares(&mut self) -> Vec<(String, i64)> {
        let all = ["ZRANGE", &self.r, "0", "-1", "WITHSCORES"];
        ask(&mut *self.connection, &all)
    }

    /// How many owners share the lock, including lapsed shares that have not been removed yet.
    pub fn owners(&mut self) -> usize {
        self.shares().len().saturating_sub(1)
    }

    /// A moment before which no share has lapsed.
    pub fn first_lapse(&mut self) -> Instant {
        // Taken before the server's clock is read, so not too late.
        let (at, now) = (Instant::now(), self.now());
        let shares = self.shares();
        let ends = shares.iter().filter(|(member, _)| member != "=");
        let first = ends
            .map(|&(_, ends)| ends)
            .min()
            .expect("the lock is shared");
        at + Duration::from_micros(u64::try_from(first - now).unwrap_or(0))
    }
}
