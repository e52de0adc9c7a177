//! How often each branch of the scripts was taken.

use std::collections::BTreeMap;
use std::fmt;

use lock_model::server::Branch;

#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<Branch, usize>);

impl Tally {
    pub(crate) fn add(&mut self, branch: Branch) {
        *self.0.entry(branch).or_default() += 1;
    }

    /// The branches in `all` that were never taken.
    pub(crate) fn missing(&self, all: &[Branch]) -> Vec<Branch> {
        let all = all.iter().copied();
        all.filter(|branch| !self.0.contains_key(branch)).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (branch, count) in &self.0 {
            writeln!(f, "{count:>6} {branch:?}")?;
        }
        Ok(())
    }
}
