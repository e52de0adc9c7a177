//! Examines some of the locks on a server.

use lock_runtime::inspect::{HolderKind, ListedLock};

use super::finding::Finding;

/// Counts among some locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) locks: usize,
    /// Locks that never expire.
    pub(crate) eternal: Vec<String>,
    /// Records of other programs.
    pub(crate) foreign: Vec<String>,
    /// Keys of another type.
    pub(crate) other_type: Vec<String>,
    /// Redisson's locks among these.
    pub(crate) redisson: Vec<String>,
    /// The server has further keys, which were not scanned.
    pub(crate) is_part: bool,
    /// The newest token (µs).
    pub(crate) newest: Option<i64>,
}

impl Sample {
    pub(crate) fn add(&mut self, lock: &ListedLock) {
        let (key, holder) = (|| lock.key.as_str().to_owned(), &lock.holder);
        self.locks += 1;
        match holder.kind {
            HolderKind::OtherType => self.other_type.push(key()),
            HolderKind::Foreign => self.foreign.push(key()),
            _ => {}
        }
        if holder.remaining.is_none() && holder.kind != HolderKind::OtherType {
            self.eternal.push(key());
        }
        self.newest = self.newest.max(holder.token.map(i64::from));
    }

    /// Moves Redisson's locks out of the keys of another type.
    pub(crate) fn recognize(&mut self, is_redisson: impl Fn(&str) -> bool) {
        let (redisson, others) = std::mem::take(&mut self.other_type)
            .into_iter()
            .partition(|key| is_redisson(key));
        (self.redisson, self.other_type) = (redisson, others);
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        let part = if self.is_part {
            ", among a part of the keys"
        } else {
            ""
        };
        let looked = format!("{} examined{part}", self.locks);
        let mut findings = vec![Finding::ok("locks", looked)];
        if let Some(shown) = some(&self.redisson) {
            findings.push(Finding::warn("redisson", shown).since(
                "Redisson's locks, which are hashes: calls for these keys are refused here",
                "use --record redisson (and the builder's `record`) to share locks with Java, or give locks another prefix",
            ));
        }
        if let Some(shown) = some(&self.other_type) {
            findings.push(Finding::fail("type", shown).since(
                "the keys have a type that no lock has: every call for them is refused",
                "delete or rename them, or give locks another prefix; for Redisson's locks, use --record redisson",
            ));
        }
        if let Some(shown) = some(&self.eternal) {
            findings.push(Finding::warn("expiry", shown).since(
                "they never expire: a holder that died keeps its lock for ever",
                "`lockctl inspect` shows them, `lockctl revoke` or DEL frees them",
            ));
        }
        if let Some(shown) = some(&self.foreign) {
            findings.push(Finding::warn("foreign", shown).since(
                "another program locks these keys: it has no fencing token, and no place in the order of waiters",
                "this is intended during a migration; otherwise give one of the two another prefix",
            ));
        }
        findings
    }
}

/// Their number, and the first of them.
fn some(keys: &[String]) -> Option<String> {
    let first = keys.first()?;
    Some(match keys.len() {
        1 => first.clone(),
        count => format!("{count} locks, such as {first}"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn strange_locks_are_reported_with_an_example() {
        let fine = Sample {
            locks: 3,
            ..Sample::default()
        };
        assert_eq!(fine.findings().len(), 1);
        let sample = Sample {
            locks: 5,
            eternal: vec!["a".to_owned()],
            foreign: vec!["b".to_owned(), "c".to_owned()],
            other_type: vec!["d".to_owned()],
            redisson: vec!["e".to_owned()],
            is_part: true,
            newest: None,
        };
        let found: Vec<_> = sample
            .findings()
            .into_iter()
            .map(|finding| (finding.check, finding.verdict, finding.value))
            .collect();
        assert_eq!(found[0].2, "5 examined, among a part of the keys");
        assert_eq!(
            found[1..],
            [
                ("redisson", Verdict::Warn, "e".to_owned()),
                ("type", Verdict::Fail, "d".to_owned()),
                ("expiry", Verdict::Warn, "a".to_owned()),
                ("foreign", Verdict::Warn, "2 locks, such as b".to_owned()),
            ]
        );
    }
}
