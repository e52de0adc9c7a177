//! Finds the owner with most nodes, from its records. Decides without I/O.

use std::time::Duration;

use crate::backend::redis::records::string_record::{Held, StringRecord};
use crate::lease::fencing_token::FencingToken;
use crate::state::Holder;

/// The owner with most nodes.
#[derive(Clone, Debug)]
pub(super) struct Elected {
    /// The owner's id, or the beginning of another program's value.
    pub(super) owner: Vec<u8>,
    pub(super) votes: usize,
    /// The token in most of its records. A node that granted the lock late may have a higher one, which the owner does
    /// not know.
    pub(super) token: Option<FencingToken>,
    /// The tokens in all its records.
    tokens: Vec<FencingToken>,
    /// The length of another program's value.
    pub(super) length: u64,
    /// A record with the token above.
    pub(super) record: StringRecord,
    /// The remaining times of its records (ms), the longest first.
    left: Vec<i64>,
}

/// Returns the owner with most nodes; `None` if no node has an owner.
pub(super) fn elect(records: &[&StringRecord]) -> Option<Elected> {
    let mut owners: Vec<Vec<&StringRecord>> = Vec::new();
    for &record in records.iter().filter(|record| record.owner().is_some()) {
        match owners
            .iter_mut()
            .find(|others| is_of_one(others[0], record))
        {
            Some(others) => others.push(record),
            None => owners.push(vec![record]),
        }
    }
    let records = owners.into_iter().max_by_key(Vec::len)?;
    let tokens: Vec<FencingToken> = records.iter().filter_map(|record| record.token()).collect();
    let count = |token: FencingToken| tokens.iter().filter(|&&other| other == token).count();
    let token = tokens
        .iter()
        .copied()
        .max_by_key(|&token| (count(token), token));
    let record = records.iter().find(|record| record.token() == token)?;
    // −1 stands for a record that never expires.
    let left = |record: &&StringRecord| {
        if record.left < 0 {
            i64::MAX
        } else {
            record.left
        }
    };
    let mut left: Vec<i64> = records.iter().map(left).collect();
    left.sort_by_key(|&left| std::cmp::Reverse(left));
    Some(Elected {
        owner: record.owner()?.to_vec(),
        votes: records.len(),
        token,
        tokens,
        length: record.length,
        record: (*record).clone(),
        left,
    })
}

/// Returns whether two records have the same owner.
fn is_of_one(one: &StringRecord, other: &StringRecord) -> bool {
    let is_ours = one.token().is_some();
    one.owner() == other.owner() && (is_ours || one.length == other.length)
}

impl Elected {
    /// Returns whether this many silent nodes could complete a majority for it.
    pub(super) fn may_have(&self, majority: usize, silent: usize) -> bool {
        self.votes + silent >= majority
    }

    /// Returns the holder. Its lease lasts as long as a majority of the nodes has its record.
    pub(super) fn holder(&self, majority: usize) -> Option<Holder> {
        let Held::Alone(holder) = self.record.held() else {
            return None;
        };
        let left = *self.left.get(majority - 1)?;
        let remaining = u64::try_from(left).ok().filter(|_| left != i64::MAX);
        let other_tokens = self.tokens.iter().copied();
        let other_tokens = other_tokens.filter(|&token| Some(token) != self.token);
        Some(Holder {
            other_tokens: other_tokens.collect(),
            remaining: remaining.map(Duration::from_millis),
            ..holder
        })
    }
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;
    use crate::state::HolderRef;

    const FIRST: &str = "aaaaaaaaABCDEFGH012345";
    const OTHER: &str = "bbbbbbbbABCDEFGH012345";

    /// A server's time.
    const BASE: u64 = 1_600_000_000_000_000;

    fn record(value: &str, left: i64) -> StringRecord {
        let value = Value::BulkString(value.into());
        StringRecord::new(value, &Value::Int(left), 1_700_000_000_000_000)
    }

    fn of(owner: &str, token: u64, left: i64) -> StringRecord {
        record(&format!("{owner} {} api-7", BASE + token), left)
    }

    fn elected(records: &[StringRecord]) -> Option<Elected> {
        elect(&records.iter().collect::<Vec<_>>())
    }

    #[test]
    fn owner_of_most_nodes_is_found_with_any_tokens() {
        let records = [
            of(FIRST, 5, 900),
            of(OTHER, 99, 900),
            of(FIRST, 21, 300),
            record("", -2),
        ];
        let elected = elected(&records).unwrap();
        assert_eq!(
            (elected.votes, elected.owner.as_slice()),
            (2, FIRST.as_bytes())
        );
        assert_eq!(elected.token, Some(FencingToken::new(BASE + 21)));
    }

    /// The third node granted the lock after the owner had a majority.
    #[test]
    fn token_of_a_holder_is_a_majoritys() {
        let records = [of(FIRST, 5, 900), of(FIRST, 21, 900), of(FIRST, 5, 900)];
        let holder = elected(&records).unwrap().holder(2).unwrap();
        assert_eq!(holder.token, Some(FencingToken::new(BASE + 5)));
        let is = |token| holder.is(HolderRef::Token(FencingToken::new(BASE + token)));
        assert_eq!([4, 5, 20, 21, 37].map(is), [false, true, true, true, false]);
    }

    #[test]
    fn lease_lasts_as_long_as_a_majority_has_it() {
        let records = [of(FIRST, 5, 900), of(FIRST, 5, 100), of(FIRST, 5, 500)];
        let holder = elected(&records).unwrap().holder(2).unwrap();
        assert_eq!(holder.remaining, Some(Duration::from_millis(500)));
        let endless = [record("x", -1), record("x", -1)];
        assert_eq!(
            elected(&endless).unwrap().holder(2).unwrap().remaining,
            None
        );
        assert!(elected(&records[..1]).unwrap().holder(2).is_none());
    }

    #[test]
    fn foreign_values_with_the_same_beginning_differ() {
        let mut long = record("x", 5);
        long.length = 600;
        let elected = elected(&[record("x", 5), long]).unwrap();
        assert_eq!(elected.votes, 1);
    }

    #[test]
    fn nodes_without_the_lock_elect_no_owner() {
        assert!(elected(&[record("", -2), record("", -2)]).is_none());
    }
}
