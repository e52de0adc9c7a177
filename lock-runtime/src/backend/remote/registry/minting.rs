//! What a mint needs to know of a lease, and what it changes.

use super::LeaseRegistry;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::Lease;
use crate::lease::fencing_token::FencingToken;

impl LeaseRegistry {
    /// Returns the records of a lease, unless it was handed over.
    pub(crate) fn names(&mut self, lease: &Lease) -> Option<OneOrMore<RecordNames>> {
        self.entry(lease).map(|entry| entry.owner.names.clone())
    }

    /// Notes the number that the record of a lease has from now on. Returns the token of its holder's turn, or `None` if the
    /// lease was handed over.
    pub(crate) fn minted(&mut self, lease: &Lease, number: FencingToken) -> Option<FencingToken> {
        let entry = self.entry(lease)?;
        entry.number = number;
        entry.token()
    }
}
