//! The name of a node: its host and port.

use std::fmt;
use std::sync::Arc;

/// A node's host and port, as the cluster announces them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeName {
    pub(super) host: Arc<str>,
    pub(super) port: u16,
}

impl NodeName {
    pub(super) fn new(host: &str, port: u16) -> NodeName {
        let host = host.into();
        NodeName { host, port }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}
