//! Why a node has not carried a command out.

use super::error_reply;
use super::redirect::Redirect;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;

/// Why a node has not carried a command out, as far as is known.
#[derive(Clone, Debug)]
pub(super) enum NodeError {
    /// Another node has the lock, as the server on this connection answered. Nothing was carried out.
    Redirected(Box<Redirect>, ConnectionId),
    /// The records of the lock are on two nodes while its slot moves. Nothing was carried out.
    SlotMoves(WireError),
    /// The node cannot carry the command out for a moment. Nothing was carried out.
    NotNow(WireError),
    /// There is no connection, or it broke, or the server has become a replica.
    Gone(WireError),
    Final(WireError),
}

impl NodeError {
    /// The error for the caller, of a server that is to have all locks.
    pub(super) fn into_wire(self) -> WireError {
        match self {
            NodeError::Redirected(..) => WireError::refused(error_reply::OF_A_CLUSTER),
            NodeError::SlotMoves(error)
            | NodeError::NotNow(error)
            | NodeError::Gone(error)
            | NodeError::Final(error) => error,
        }
    }
}
