//! Lists the locks of a cluster, one primary after the other.
//!
//! A key that moves during a listing may be shown twice. It would be missed if it moved from an unread node to a node
//! that was read before. So if there are signs that keys move, all nodes are read again, and the second pass shows only
//! new locks. A lock whose slot moves twice during one listing may be missing. A resumed listing does not know what was
//! shown before, so it has no second pass.

use std::sync::Arc;
use std::time::Instant;

use redis::Value;

use super::Cluster;
use super::cluster_node::ClusterNode;
use crate::backend::redis::encoder::Argument;
use crate::backend::redis::node::NodeError;
use crate::backend::redis::records::scan::{self, Found, Look};
use crate::backend::redis::records::snapshot::Snapshot;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{Cursor, Listing, Position};
use crate::key::slot_of;
use crate::state::LockState;

/// The second pass finds the keys that moved during the first one.
const MAX_PASSES: u32 = 2;

/// The locks of a page, and the position where the listing continues.
struct Page {
    states: Vec<LockState>,
    after: Option<Position>,
    has_moved: bool,
}

impl Cluster {
    /// Returns the next locks. The cursor moves only once they are known.
    pub(in crate::backend::redis) async fn page(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Vec<LockState>, WireError> {
        let until = self.router.until();
        if cursor.nodes.is_none() {
            let names = self.begin_pass(until).await?;
            cursor.moves = self.router.nodes.moves();
            cursor.passes += 1;
            cursor.begin(names);
        }
        let nodes = cursor.nodes.get_or_insert_default();
        let Some(name) = nodes.last() else {
            let may_have_missed = !cursor.is_resumed
                && cursor.passes < MAX_PASSES
                && (cursor.has_moved || self.have_keys_moved(cursor.moves, until).await?);
            cursor.is_over = !may_have_missed;
            cursor.nodes = None;
            return Ok(Vec::new());
        };
        let primaries = self.router.nodes.primaries()?;
        let Some(node) = primaries
            .into_iter()
            .find(|node| node.name.to_string() == *name)
        else {
            // The slots of this node have moved away.
            nodes.pop();
            cursor.has_moved = true;
            cursor.position = Position::default();
            return Ok(Vec::new());
        };
        let page = self.page_of(&node, listing, &cursor.position, until).await;
        let page = page.map_err(|error| {
            self.router.note_failed(&node);
            error.into_wire()
        })?;
        let Page {
            mut states,
            after,
            has_moved,
        } = page;
        if after.is_none() {
            nodes.pop();
        }
        cursor.has_moved |= has_moved;
        cursor.position = after.unwrap_or_default();
        states.retain(|state| cursor.is_new(state.key.as_str()));
        Ok(states)
    }

    /// Refreshes the map, and returns the names of the nodes to read.
    async fn begin_pass(&self, until: Instant) -> Result<Vec<String>, WireError> {
        self.router.refresh(until).await?;
        let primaries = self.router.nodes.primaries()?;
        Ok(primaries.iter().map(|node| node.name.to_string()).collect())
    }

    async fn page_of(
        &self,
        node: &Arc<ClusterNode>,
        listing: &Listing,
        position: &Position,
        until: Instant,
    ) -> Result<Page, NodeError> {
        let (found, after) = scan::next(node, listing, position, until).await?;
        let looks = scan::look(node, &found, until).await?;
        let mut page = Page {
            states: Vec::new(),
            after,
            has_moved: false,
        };
        for (Found { key, names }, look) in found.into_iter().zip(looks) {
            // Keys that are moving to this node, or were left behind on it, belong to another node.
            page.has_moved |= !self.router.nodes.has(node, slot_of(&names.lock));
            match look {
                Look::Here(record, counts) => page.states.extend(scan::state(key, &record, counts)),
                Look::Elsewhere => {
                    page.has_moved = true;
                    let commands = Snapshot::commands(&names);
                    let asked = self.ask_together(slot_of(&names.lock), &commands).await;
                    let snapshot = asked.and_then(|answers| Snapshot::parse(&answers));
                    let snapshot = snapshot.map_err(NodeError::Final)?;
                    let mut state = snapshot.state(key, Vec::new());
                    state.more_waiters = snapshot.waiters();
                    state.unseen_wait = snapshot.longest_wait();
                    state.last_token = None;
                    page.states.extend(Some(state).filter(LockState::is_held));
                }
            }
        }
        Ok(page)
    }

    /// Returns whether keys have moved since `moves` was read, or are about to.
    async fn have_keys_moved(&self, moves: u64, until: Instant) -> Result<bool, WireError> {
        self.router.refresh(until).await?;
        if self.router.nodes.moves() != moves {
            return Ok(true);
        }
        let question = [Argument::Text("CLUSTER"), Argument::Text("NODES")];
        for node in self.router.nodes.primaries()? {
            match node.ask(&question, until).await {
                Ok(answer) if !has_open_slots(&answer) => {}
                // A user who may not ask counts as a yes, too.
                _ => return Ok(true),
            }
        }
        Ok(false)
    }
}

/// Returns whether a node has a half-moved slot. In the answer to CLUSTER NODES, its own line ends with such slots.
fn has_open_slots(answer: &Value) -> bool {
    let lines = match answer {
        Value::BulkString(text) => String::from_utf8_lossy(text).into_owned(),
        Value::VerbatimString { text, .. } => text.clone(),
        Value::SimpleString(text) => text.clone(),
        _ => return true,
    };
    let mut own = lines.lines().filter(|line| line.contains("myself"));
    own.any(|line| line.contains(" ["))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_moved_slots_are_read_from_the_nodes_own_line() {
        let own = "07c3 127.0.0.1:30004@31004 myself,master - 0 0 1 connected 0-5460";
        let other = "67ed 127.0.0.1:30002@31002 master - 0 1 2 connected 5461-10922";
        let answer = |lines: &[&str]| Value::BulkString(lines.join("\n").into_bytes());
        assert!(!has_open_slots(&answer(&[own, other])));
        for open in ["[93->-67ed]", "[93-<-67ed]"] {
            let own = format!("{own} {open}");
            assert!(has_open_slots(&answer(&[&own, other])));
        }
        assert!(has_open_slots(&Value::Nil));
    }
}
