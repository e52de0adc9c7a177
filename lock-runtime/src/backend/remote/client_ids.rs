//! The ids of a client, and the number of its owners with each.

use crate::backend::wire::NodeId;
use crate::backend::wire::outstanding::ConnectionId;
use crate::error::LockError;
use crate::lease::owner_id::ClientId;

/// The ids of a client, and the number of its owners with each.
/// Each connection has its own id, since copies of a machine or of a restored process share everything that was created
/// before they connect. If they shared an id, each copy would receive the other's messages, and would count as a
/// subscriber for the other. If a client is copied while it waits without a connection, the copies still share an id
/// until the connection after the next.
///
/// The connections to the nodes of a cluster share their ids, since each node counts its own subscribers. There a copy
/// gets its own ids once it has found all of its connections broken.
#[derive(Debug, Default)]
pub(crate) struct ClientIds {
    /// The last id is for new owners.
    in_use: Vec<(ClientId, usize)>,
    /// The connections that are subscribed to the last id, one for each node.
    subscribed: Vec<(NodeId, ConnectionId)>,
    /// Whether all of these connections are gone.
    is_past: bool,
}

impl ClientIds {
    /// Returns the id for a new owner, and counts the owner.
    pub(crate) fn register(&mut self) -> Result<ClientId, LockError> {
        if self.in_use.is_empty() || self.is_past {
            self.draw()?;
        }
        let (id, owners) = self.in_use.last_mut().expect("an id was drawn above");
        *owners += 1;
        Ok(*id)
    }

    /// Counts an owner that already has this `id`.
    pub(crate) fn register_again(&mut self, id: ClientId) {
        match self.owners_mut(id) {
            Some(owners) => *owners += 1,
            // In front, since the last id is for new owners.
            None => self.in_use.insert(0, (id, 1)),
        }
    }

    /// No longer counts an owner.
    pub(crate) fn unregister(&mut self, id: ClientId) {
        if let Some(owners) = self.owners_mut(id) {
            *owners -= 1;
        }
    }

    /// Returns the ids for the subscriptions of a new connection to a node: first the id of new owners, then the ids of
    /// owners that have not ended. The first connection gets a new id.
    pub(crate) fn for_connection(&mut self, node: NodeId) -> Result<Vec<ClientId>, LockError> {
        let is_shared = self.subscribed.iter().any(|&(other, _)| other != node);
        // If owners already use this id, the connection is made for them.
        let has_owners = self.in_use.last().is_some_and(|&(_, owners)| owners > 0);
        let is_taken = self.is_past || !self.subscribed.is_empty();
        if !is_shared && (is_taken || !has_owners) {
            self.draw()?;
        }
        Ok(self.in_use.iter().rev().map(|&(id, _)| id).collect())
    }

    /// Returns the ids in use that are not in `subscribed`. Connections to several nodes may be made at the same time,
    /// and each may draw an id that the others lack.
    pub(crate) fn missing(&self, subscribed: &[ClientId]) -> Vec<ClientId> {
        let ids = self.in_use.iter().map(|&(id, _)| id);
        ids.filter(|id| !subscribed.contains(id)).collect()
    }

    /// Returns whether a connection is subscribed to the id of new owners.
    pub(crate) fn is_subscribed(&self) -> bool {
        !self.subscribed.is_empty()
    }

    /// Notes that a connection is subscribed to the id of new owners.
    pub(crate) fn connected(&mut self, node: NodeId, connection: ConnectionId) {
        self.subscribed.retain(|&(other, _)| other != node);
        self.subscribed.push((node, connection));
    }

    /// Notes that a connection is gone. New owners get the id of the next connection, unless that already exists or
    /// other nodes are connected.
    pub(crate) fn disconnected(&mut self, node: NodeId, connection: ConnectionId) {
        let before = self.subscribed.len();
        self.subscribed
            .retain(|&subscribed| subscribed != (node, connection));
        self.is_past |= self.subscribed.is_empty() && before > 0;
    }

    /// Draws an id for new owners, and drops the ids without owners.
    fn draw(&mut self) -> Result<(), LockError> {
        let id = ClientId::random()?;
        self.in_use.retain(|&(_, owners)| owners > 0);
        self.in_use.push((id, 0));
        self.subscribed.clear();
        self.is_past = false;
        Ok(())
    }

    fn owners_mut(&mut self, id: ClientId) -> Option<&mut usize> {
        let mut ids = self.in_use.iter_mut().rev();
        ids.find(|(other, _)| *other == id)
            .map(|(_, owners)| owners)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(0);
    const OTHER: NodeId = NodeId(1);
    const FIRST: ConnectionId = ConnectionId(1);

    #[test]
    fn each_connection_has_an_id_of_its_own() {
        let mut ids = ClientIds::default();
        let id = ids.register().unwrap();
        // The connection is made for that owner, which waits for a message to this id.
        assert_eq!(ids.for_connection(NODE).unwrap(), [id]);
        ids.connected(NODE, FIRST);
        assert_eq!(ids.register().unwrap(), id);

        let second = ids.for_connection(NODE).unwrap();
        let [new, old] = second[..] else {
            panic!("{second:?}")
        };
        assert_eq!(old, id, "its owners have not ended");
        assert_ne!(new, old);
        assert_eq!(ids.register().unwrap(), new);
    }

    #[test]
    fn owner_registered_without_a_connection_has_the_id_of_the_next_connection() {
        let mut ids = ClientIds::default();
        ids.for_connection(NODE).unwrap();
        ids.connected(NODE, FIRST);
        let first = ids.register().unwrap();
        ids.disconnected(NODE, FIRST);
        let [second, third] = [(); 2].map(|()| ids.register().unwrap());
        assert_eq!(second, third);
        assert_ne!(second, first);
        assert_eq!(ids.for_connection(NODE).unwrap(), [second, first]);
    }

    #[test]
    fn end_of_a_connection_that_is_reported_late_changes_no_id() {
        let mut ids = ClientIds::default();
        ids.for_connection(NODE).unwrap();
        ids.connected(NODE, FIRST);
        let [second] = ids.for_connection(NODE).unwrap()[..] else {
            panic!("one id without owners is enough")
        };
        ids.connected(NODE, ConnectionId(2));
        ids.disconnected(NODE, FIRST);
        assert_eq!(ids.register().unwrap(), second);
    }

    #[test]
    fn id_is_dropped_with_its_last_owner() {
        let mut ids = ClientIds::default();
        let id = ids.register().unwrap();
        ids.for_connection(NODE).unwrap();
        ids.connected(NODE, FIRST);
        ids.unregister(id);
        let second = ids.for_connection(NODE).unwrap();
        assert_eq!(second.len(), 1);
        assert_ne!(second[0], id);
    }

    #[test]
    fn id_of_an_owner_that_is_ended_again_is_not_for_new_owners() {
        let mut ids = ClientIds::default();
        let id = ids.register().unwrap();
        ids.for_connection(NODE).unwrap();
        ids.connected(NODE, FIRST);
        ids.unregister(id);
        let [second] = ids.for_connection(NODE).unwrap()[..] else {
            panic!("the first id has no owner")
        };
        ids.register_again(id);
        assert_eq!(ids.register().unwrap(), second);
        assert_eq!(ids.for_connection(NODE).unwrap(), [second, id]);
    }

    #[test]
    fn idle_client_connects_by_another_id_each_time() {
        let mut client = ClientIds::default();
        let mut ids: Vec<_> = (0..4)
            .flat_map(|_| client.for_connection(NODE).unwrap())
            .collect();
        assert_eq!(ids.len(), 4);
        ids.dedup();
        assert_eq!(ids.len(), 4);
    }

    /// Each node must count the client as a subscriber, whichever connection was made first.
    #[test]
    fn concurrent_connections_know_each_others_ids() {
        let mut ids = ClientIds::default();
        let first = ids.for_connection(NODE).unwrap();
        let second = ids.for_connection(OTHER).unwrap();
        ids.connected(NODE, FIRST);
        assert_eq!(
            ids.missing(&first),
            second,
            "it was drawn for the other one"
        );
        ids.connected(OTHER, ConnectionId(2));
        assert_eq!(ids.missing(&second), []);
        assert_eq!(vec![ids.register().unwrap()], second);
    }

    #[test]
    fn connections_to_the_nodes_of_a_cluster_share_their_ids() {
        let mut ids = ClientIds::default();
        let id = ids.register().unwrap();
        assert_eq!(ids.for_connection(NODE).unwrap(), [id]);
        ids.connected(NODE, FIRST);
        assert_eq!(ids.for_connection(OTHER).unwrap(), [id]);
        ids.connected(OTHER, ConnectionId(2));
        // One connection is replaced while the other lasts.
        ids.disconnected(NODE, FIRST);
        assert_eq!(ids.register().unwrap(), id);
        assert_eq!(ids.for_connection(NODE).unwrap(), [id]);
        ids.connected(NODE, ConnectionId(3));
        ids.disconnected(OTHER, ConnectionId(2));
        assert_eq!(ids.register().unwrap(), id, "one is left");
        ids.disconnected(NODE, ConnectionId(3));
        assert_ne!(ids.register().unwrap(), id, "none is left");
    }
}
