//! Maps the announced addresses of a cluster's nodes to reachable addresses.

use std::fmt;
use std::sync::Arc;

type Map = dyn Fn(&str, u16) -> (String, u16) + Send + Sync;

/// Maps the addresses that a cluster announces. The default changes none.
#[derive(Clone, Default)]
pub(crate) struct AddressMap(Option<Arc<Map>>);

impl AddressMap {
    pub(crate) fn new(
        map: impl Fn(&str, u16) -> (String, u16) + Send + Sync + 'static,
    ) -> AddressMap {
        AddressMap(Some(Arc::new(map)))
    }

    /// Returns the address at which to reach a node that is announced at this host and port.
    pub(crate) fn apply(&self, host: &str, port: u16) -> (String, u16) {
        match &self.0 {
            Some(map) => map(host, port),
            None => (host.to_owned(), port),
        }
    }
}

impl fmt::Debug for AddressMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "AddressMap(..)",
            None => "None",
        })
    }
}
