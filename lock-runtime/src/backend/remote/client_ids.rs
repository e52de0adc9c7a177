//! The ids that a client goes by, and the number of its owners with each.

use crate::backend::wire::outstanding::ConnectionId;
use crate::error::LockError;
use crate::lease::owner_id::ClientId;

/// The ids that a client goes by, and the number of its owners with each.
///
/// Each connection has an id of its own, since copies of a machine or of a restored process share all that was made
/// before they connect. With one shared id, each copy would receive the other's messages, and count as a subscriber in
/// its place. Copies of a client that waits without a connection still share an id until the connection after the next.
#[derive(Debug, Default)]
pub(crate) struct ClientIds {
    /// The last one is for new owners.
    in_use: Vec<(ClientId, usize)>,
    /// The connection that subscribed to the last one.
    subscribed: Option<ConnectionId>,
    /// That connection is gone.
    is_past: bool,
}

impl ClientIds {
    /// The id for a new owner, which is counted.
    pub(crate) fn register(&mut self) -> Result<ClientId, LockError> {
        if self.in_use.is_empty() || self.is_past {
            self.draw()?;
        }
        let (id, owners) = self.in_use.last_mut().expect("one was drawn above");
        *owners += 1;
        Ok(*id)
    }

    /// Counts an owner that goes by `id` already.
    pub(crate) fn register_again(&mut self, id: ClientId) {
        match self.owners_mut(id) {
            Some(owners) => *owners += 1,
            // In front: not for new owners.
            None => self.in_use.insert(0, (id, 1)),
        }
    }

    /// Counts one owner less.
    pub(crate) fn unregister(&mut self, id: ClientId) {
        if let Some(owners) = self.owners_mut(id) {
            *owners -= 1;
        }
    }

    /// The ids that a new connection subscribes to: that of new owners first, then those of owners that have not
    /// ended. Each connection has a new one.
    pub(crate) fn for_connection(&mut self) -> Result<Vec<ClientId>, LockError> {
        // An id that owners go by already is kept for the connection that is made for them.
        let has_owners = self.in_use.last().is_some_and(|&(_, owners)| owners > 0);
        if self.subscribed.is_some() || !has_owners {
            self.draw()?;
        }
        Ok(self.in_use.iter().rev().map(|&(id, _)| id).collect())
    }

    /// A connection is subscribed to the id of new owners.
    pub(crate) fn connected(&mut self, connection: ConnectionId) {
        self.subscribed = Some(connection);
    }

    /// A connection is gone: new owners go by the id of the next one, unless that is there already.
    pub(crate) fn disconnected(&mut self, connection: ConnectionId) {
        self.is_past |= self.subscribed == Some(connection);
    }

    /// Draws an id for new owners, and drops those without owners.
    fn draw(&mut self) -> Result<(), LockError> {
        let id = ClientId::random()?;
        self.in_use.retain(|&(_, owners)| owners > 0);
        self.in_use.push((id, 0));
        (self.subscribed, self.is_past) = (None, false);
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

    const FIRST: ConnectionId = ConnectionId(1);

    #[test]
    fn each_connection_has_an_id_of_its_own() {
        let mut ids = ClientIds::default();
        let id = ids.register().unwrap();
        // The connection is made for that owner, which waits for a message by this id.
        assert_eq!(ids.for_connection().unwrap(), [id]);
        ids.connected(FIRST);
        assert_eq!(ids.register().unwrap(), id);

        let second = ids.for_connection().unwrap();
        let [new, old] = second[..] else {
            panic!("{second:?}")
        };
        assert_eq!(old, id, "its owners have not ended");
        assert_ne!(new, old);
        assert_eq!(ids.register().unwrap(), new);
    }

    #[test]
    fn owner_registered_without_a_connection_goes_by_the_id_of_the_next_one() {
        let mut ids = ClientIds::default();
        ids.for_connection().unwrap();
        ids.connected(FIRST);
        let first = ids.register().unwrap();
        ids.disconnected(FIRST);
        let [second, third] = [(); 2].map(|()| ids.register().unwrap());
        assert_eq!(second, third);
        assert_ne!(second, first);
        assert_eq!(ids.for_connection().unwrap(), [second, first]);
    }

    #[test]
    fn end_of_a_connection_that_is_reported_late_changes_no_id() {
        let mut ids = ClientIds::default();
        ids.for_connection().unwrap();
        ids.connected(FIRST);
        let [second] = ids.for_connection().unwrap()[..] else {
            panic!("one id without owners is enough")
        };
        ids.connected(ConnectionId(2));
        ids.disconnected(FIRST);
        assert_eq!(ids.register().unwrap(), second);
    }

    #[test]
    fn id_is_dropped_with_its_last_owner() {
        let mut ids = ClientIds::default();
        let id = ids.register().unwrap();
        ids.for_connection().unwrap();
        ids.connected(FIRST);
        ids.unregister(id);
        let second = ids.for_connection().unwrap();
        assert_eq!(second.len(), 1);
        assert_ne!(second[0], id);
    }

    #[test]
    fn id_of_an_owner_that_is_ended_again_is_not_for_new_owners() {
        let mut ids = ClientIds::default();
        let id = ids.register().unwrap();
        ids.for_connection().unwrap();
        ids.connected(FIRST);
        ids.unregister(id);
        let [second] = ids.for_connection().unwrap()[..] else {
            panic!("the first id has no owner")
        };
        ids.register_again(id);
        assert_eq!(ids.register().unwrap(), second);
        assert_eq!(ids.for_connection().unwrap(), [second, id]);
    }

    #[test]
    fn idle_client_connects_by_another_id_each_time() {
        let mut client = ClientIds::default();
        let mut ids: Vec<_> = (0..4)
            .flat_map(|_| client.for_connection().unwrap())
            .collect();
        assert_eq!(ids.len(), 4);
        ids.dedup();
        assert_eq!(ids.len(), 4);
    }
}
