//! Operators' commands for a quorum. They ask all nodes. A lock is held if a majority has the same owner.

use std::collections::BTreeMap;
use std::time::Duration;

use super::QuorumWire;
use super::ballot::place::Reason;
use super::election::{self, Elected};
use super::majority::LAST;
use super::quorum_nodes::QuorumNodes;
use crate::backend::redis::encoder::Argument;
use crate::backend::redis::node::{NodeError, Purpose, ScriptCall};
use crate::backend::redis::records::scan::{self, Found, Look};
use crate::backend::redis::records::snapshot::Snapshot;
use crate::backend::redis::records::string_record::StringRecord;
use crate::backend::redis::side_by_side::side_by_side;
use crate::backend::redis::{audit_stream, revoke_script};
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{
    Cursor, Line, Listing, Position, RevokeOrder, RevokeReply, ServerReply,
};
use crate::key::{LockKey, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::state::{LockState, Votes, Waiter};

impl QuorumNodes {
    /// Reads the records of a lock, and elects the owner with most nodes. Its `votes` show whether it has a majority.
    ///
    /// Waits for slow nodes if the result depends on them. If they do not answer, this fails, since it is unknown
    /// whether the lock is held.
    async fn elected(
        &self,
        names: &RecordNames,
    ) -> Result<(Vec<(usize, Snapshot)>, Option<Elected>), WireError> {
        let majority = self.majority();
        for last in [Some(LAST), None] {
            let snapshots = self.snapshots(names, last).await?;
            let records: Vec<_> = snapshots.iter().map(|(_, found)| &found.record).collect();
            let elected = election::elect(&records);
            let silent = self.len() - snapshots.len();
            let is_known = elected
                .as_ref()
                .is_none_or(|it| it.votes >= majority || !it.may_have(majority, silent));
            if is_known {
                return Ok((snapshots, elected));
            }
        }
        Err(WireError::unavailable(
            "too few nodes answered to tell whether the lock is held",
        ))
    }

    async fn snapshots(
        &self,
        names: &RecordNames,
        last: Option<Duration>,
    ) -> Result<Vec<(usize, Snapshot)>, WireError> {
        let (commands, until) = (Snapshot::commands(names), self.until());
        let asking = self.each().map(async |node| {
            let asked = node.ask_together(&commands, until).await;
            Snapshot::parse(&asked.map_err(NodeError::into_wire)?)
        });
        self.heard_within(last, asking).await
    }

    /// Returns the waiters on these nodes, in order. A waiter queues on all nodes with the same stamp.
    async fn waiters(&self, names: &RecordNames, snapshots: &[(usize, Snapshot)]) -> Vec<Waiter> {
        let until = self.until();
        let asked = snapshots.iter().map(async |(node, snapshot)| {
            let question = snapshot.heartbeats(names)?;
            let answers = self
                .node(*node)
                .ask_together(&[question], until)
                .await
                .ok()?;
            Some(snapshot.waiting(answers.first()?))
        });
        let mut waiters: BTreeMap<Vec<u8>, Waiter> = BTreeMap::new();
        for waiting in side_by_side(asked).await.into_iter().flatten().flatten() {
            let known = waiters
                .entry(waiting.entry)
                .or_insert_with(|| waiting.waiter.clone());
            known.waiting = known.waiting.max(waiting.waiter.waiting);
            known.last_seen = known.last_seen.min(waiting.waiter.last_seen);
        }
        let mut waiters: Vec<Waiter> = waiters.into_values().collect();
        waiters.sort_by_key(|waiter| std::cmp::Reverse(waiter.waiting));
        waiters
    }

    /// Asks all nodes for the records of locks that one of them has found.
    async fn look(&self, found: &[Found]) -> Result<Vec<(usize, Vec<Look>)>, WireError> {
        let until = self.until();
        let looking = self.each().map(async |node| {
            let looks = scan::look(node, found, until).await;
            looks.map_err(NodeError::into_wire)
        });
        self.heard(looking).await
    }

    /// Returns the node to read now; `None` after the last one. Nodes are read in order.
    fn next_to_read(&self, cursor: &mut Cursor) -> Option<usize> {
        if cursor.nodes.is_none() {
            cursor.begin((0..self.len()).map(|node| format!("{node:03}")).collect());
            // The position of a resumed listing is untrusted input, and the number of these nodes counts.
            cursor.away.retain(|&node| node < self.len());
        }
        let next = cursor.nodes.as_ref().and_then(|nodes| nodes.last());
        cursor.is_over = next.is_none();
        next?.parse().ok()
    }

    /// Continues with the next node.
    fn is_read(cursor: &mut Cursor) {
        cursor.nodes.iter_mut().for_each(|nodes| drop(nodes.pop()));
        cursor.position = Position::default();
    }

    /// Takes a lock from its owner on one node.
    async fn revoke_at(
        &self,
        node: usize,
        names: &OneOrMore<RecordNames>,
        elected: &Elected,
        above: FencingToken,
        notice: &str,
    ) -> Result<RevokeReply, WireError> {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        // The records of one owner may have different tokens. Another program's record is compared as a whole.
        let length = if elected.token.is_some() {
            -1
        } else {
            number(elected.length)
        };
        let least = above.get().saturating_add(u64::from(FencingToken::STEP));
        // Like the proposal of an end, slightly ahead of the nodes' clocks, so that all of them accept it.
        let proposed = least.max(self.guess());
        let call = ScriptCall {
            script: &self.scripts.revoke,
            names,
            arguments: &[
                Argument::Text(&self.marker),
                Argument::Bytes(&elected.owner),
                Argument::Number(length),
                Argument::Number(number(proposed)),
                Argument::Boot,
                Argument::Number(self.delay_ms()),
                Argument::Text(notice),
            ],
            shortcut: None,
            trial: None,
        };
        let answered = self
            .node(node)
            .run(Purpose::End, &call, self.until(), &mut |_| {})
            .await;
        revoke_script::parse(&answered.map_err(NodeError::into_wire)?.answer)
    }
}

impl QuorumWire {
    /// Returns the locks on the next node that answers, and where the listing continues. The others have every lock that
    /// a majority has.
    async fn found(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Option<(usize, Vec<Found>, Option<Position>)>, WireError> {
        let nodes = &self.nodes;
        while let Some(node) = nodes.next_to_read(cursor) {
            let until = nodes.until();
            match scan::next(nodes.node(node), listing, &cursor.position, until).await {
                Ok((found, after)) => return Ok(Some((node, found, after))),
                Err(error) => self.skip(node, cursor, error.into_wire())?,
            }
        }
        Ok(None)
    }

    /// Skips a node that failed, as long as the others are a majority.
    fn skip(&self, node: usize, cursor: &mut Cursor, error: WireError) -> Result<(), WireError> {
        let nodes = &self.nodes;
        if cursor.away.len() < nodes.len() - nodes.majority() {
            cursor.away.push(node);
            QuorumNodes::is_read(cursor);
            return Ok(());
        }
        if let WireError::Refused(detail) = error {
            let name = &nodes.health(node).name;
            return Err(WireError::refused(format!("{name}: {detail}")));
        }
        let before = cursor.away.iter();
        let mut reasons: Vec<_> = before
            .map(|&node| (node, Reason::Failed("it failed before".to_owned())))
            .collect();
        reasons.push((node, Reason::of(&error)));
        reasons.sort_unstable_by_key(|(node, _)| *node);
        Err(nodes.too_few(&reasons))
    }
}

impl QuorumWire {
    /// Writes nothing, so that read-only users can call it.
    pub(crate) async fn probe(&self) -> Result<(), WireError> {
        let until = self.nodes.until();
        let pings = self.nodes.each().map(async |node| {
            let ping = node.ping(until).await;
            ping.map_err(NodeError::into_wire)
        });
        self.nodes.heard(pings).await.map(drop)
    }

    pub(crate) async fn inspect(
        &self,
        key: &LockKey,
        names: &RecordNames,
    ) -> Result<(LockState, u64), WireError> {
        let nodes = &self.nodes;
        let (snapshots, elected) = nodes.elected(names).await?;
        let records: Vec<&StringRecord> = snapshots
            .iter()
            .map(|(_, snapshot)| &snapshot.record)
            .collect();
        let mut state = LockState::free(key.clone());
        state.votes = Some(votes(nodes, &records, elected.as_ref()));
        let elected = elected.filter(|elected| elected.votes >= nodes.majority());
        state
            .holders
            .extend(elected.and_then(|elected| elected.holder(nodes.majority())));
        state.waiters = nodes.waiters(names, &snapshots).await;
        state.more_waiters = snapshots
            .iter()
            .map(|(_, snapshot)| snapshot.more_waiters())
            .max()
            .unwrap_or(0);
        state.last_token = snapshots
            .iter()
            .filter_map(|(_, snapshot)| snapshot.fence)
            .max();
        let now = records.iter().map(|record| record.now).max().unwrap_or(0);
        Ok((state, now))
    }

    pub(crate) async fn page(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Vec<LockState>, WireError> {
        let nodes = &self.nodes;
        let Some((node, found, after)) = self.found(listing, cursor).await? else {
            return Ok(Vec::new());
        };
        let looks = nodes.look(&found).await?;
        let mut states = Vec::new();
        for (number, Found { key, .. }) in found.into_iter().enumerate() {
            let (mut records, mut waiters, mut wait) = (Vec::new(), 0, None);
            let mut is_known = false;
            for (other, looks) in &looks {
                if let Some(Look::Here(record, counts)) = looks.get(number) {
                    let was_read = *other < node && !cursor.away.contains(other);
                    is_known |= was_read && !record.is_absent();
                    records.push(record);
                    waiters = waiters.max(counts.waiters);
                    wait = wait.max(counts.wait);
                }
            }
            // An earlier part of the listing has shown the lock, on that other node.
            if cursor.is_resumed && is_known {
                continue;
            }
            let elected = election::elect(&records);
            let votes = votes(nodes, &records, elected.as_ref());
            // A lock is shown if the silent nodes could complete its majority: missing a holder would be worse.
            let (majority, silent) = (nodes.majority(), nodes.len() - records.len());
            let elected = elected.filter(|elected| elected.may_have(majority, silent));
            let holder = elected.and_then(|elected| elected.holder(majority.min(elected.votes)));
            if let Some(holder) = holder {
                let mut state = LockState::free(key);
                state.holders.push(holder);
                state.more_waiters = waiters;
                state.unseen_wait = wait;
                state.votes = Some(votes);
                states.push(state);
            }
        }
        match after {
            Some(after) => cursor.position = after,
            None => QuorumNodes::is_read(cursor),
        }
        states.retain(|state| cursor.is_new(state.key.as_str()));
        Ok(states)
    }

    pub(crate) async fn revoke(
        &self,
        names: &RecordNames,
        order: &RevokeOrder,
    ) -> Result<RevokeReply, WireError> {
        let nodes = &self.nodes;
        let (snapshots, elected) = nodes.elected(names).await?;
        let elected = elected.filter(|elected| elected.votes >= nodes.majority());
        let Some(elected) = elected else {
            return Ok(RevokeReply::NotHeld);
        };
        let holder = elected.holder(nodes.majority());
        let is_meant = holder.is_some_and(|holder| holder.is(order.reference));
        if !is_meant {
            return Ok(RevokeReply::Changed);
        }
        // The next owner gets one token on all nodes, higher than any token that they know.
        let tokens = snapshots
            .iter()
            .flat_map(|(_, snapshot)| [snapshot.fence, snapshot.record.token()]);
        let above = tokens.flatten().max().unwrap_or(FencingToken::new(0));
        let names = OneOrMore::from(names.clone());
        let revoking = (0..nodes.len())
            .map(|node| nodes.revoke_at(node, &names, &elected, above, &order.notice));
        let revoked = nodes.heard(revoking).await?;
        let taken = |reply: &RevokeReply| {
            matches!(reply, RevokeReply::Freed(_) | RevokeReply::HandedOff(_))
        };
        let count = revoked.iter().filter(|(_, reply)| taken(reply)).count();
        let handed_off = revoked
            .iter()
            .any(|(_, reply)| matches!(reply, RevokeReply::HandedOff(_)));
        // None of the nodes that answered still has this owner, so it has at most a minority. The nodes that had it
        // notify the owner. If these are few, the owner asks all nodes.
        Ok(match (count, handed_off) {
            (0, _) => RevokeReply::Changed,
            (_, true) => RevokeReply::HandedOff(Some(count)),
            (_, false) => RevokeReply::Freed(Some(count)),
        })
    }

    pub(crate) async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<(String, ServerReply)>, WireError> {
        let nodes = &self.nodes;
        let until = nodes.until();
        let name = |node: usize| nodes.health(node).name.clone();
        let is_meant = |&node: &usize| server.is_none_or(|server| name(node) == server);
        let meant: Vec<usize> = (0..nodes.len()).filter(is_meant).collect();
        let asking = meant
            .iter()
            .map(|&node| nodes.node(node).ask_words_now(commands, until));
        let asked = side_by_side(asking).await;
        Ok(meant.iter().map(|&node| name(node)).zip(asked).collect())
    }

    pub(crate) fn user(&self) -> Option<String> {
        self.login.as_ref()?.user()
    }

    pub(crate) async fn append(&self, stream: &str, line: &Line) -> Result<(), WireError> {
        let nodes = self.nodes.each();
        let appending = nodes.map(|node| audit_stream::append(node, stream, line));
        self.nodes.heard(appending).await.map(drop)
    }

    /// Each node has its own lines. Lines that were already read on another node are omitted.
    pub(crate) async fn lines(
        &self,
        stream: &str,
        since: Option<Duration>,
        cursor: &mut Cursor,
    ) -> Result<Vec<Line>, WireError> {
        let nodes = &self.nodes;
        while let Some(node) = nodes.next_to_read(cursor) {
            let next = &cursor.position.cursor;
            match audit_stream::lines(nodes.node(node), stream, since, next).await {
                Ok((lines, next)) => {
                    match next {
                        Some(next) => cursor.position.cursor = next,
                        None => QuorumNodes::is_read(cursor),
                    }
                    return Ok(unread(lines, cursor));
                }
                Err(error) => self.skip(node, cursor, error)?,
            }
        }
        Ok(Vec::new())
    }
}

/// Returns the lines that no other node had.
fn unread(mut lines: Vec<Line>, cursor: &mut Cursor) -> Vec<Line> {
    lines.retain(|line| {
        // A line of another program without an id cannot be told from the others.
        line.operation.is_none_or(|operation| {
            let outcome = line.outcome.text();
            cursor.is_new(&format!("{operation} {outcome}"))
        })
    });
    lines
}

/// Returns how many nodes have the lock, and how many were asked.
fn votes(nodes: &QuorumNodes, records: &[&StringRecord], elected: Option<&Elected>) -> Votes {
    Votes {
        nodes: nodes.len(),
        answered: records.len(),
        agreed: elected.map_or(0, |elected| elected.votes),
    }
}
