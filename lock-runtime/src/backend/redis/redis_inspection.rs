//! Operators' commands for one server or a cluster.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redis::Value;

use super::audit_stream;
use super::node::queries::Ask;
use super::node::{Purpose, ScriptCall};
use super::records::snapshot::Snapshot;
use super::redis_wire::{Records, RedisWire};
use super::revoke_script::{self, Compared};
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{
    Cursor, Line, Listing, RevokeOrder, RevokeReply, ServerReply,
};
use crate::backend::wire::outstanding::SendEvent;
use crate::key::{LockKey, OneOrMore, RecordNames};
use crate::state::{HolderRef, LockState};

impl RedisWire {
    async fn snapshot(&self, names: &RecordNames) -> Result<Snapshot, WireError> {
        let commands = Snapshot::commands(names);
        let answers = self.topology.ask(&names.lock, &commands).await?;
        Snapshot::parse(&answers)
    }
}

impl RedisWire {
    pub(crate) async fn probe(&self) -> Result<(), WireError> {
        self.topology.ping().await
    }

    pub(crate) async fn inspect(
        &self,
        key: &LockKey,
        names: &RecordNames,
    ) -> Result<(LockState, u64), WireError> {
        if let Records::Redisson(redisson) = &self.records {
            return redisson.inspect(key, names).await;
        }
        let mut snapshot = self.snapshot(names).await?;
        if let Some(question) = snapshot.live_shares(names) {
            let answers = self.topology.ask(&names.lock, &[question]).await?;
            snapshot.set_live_shares(answers.first().unwrap_or(&Value::Nil));
        }
        let waiting = match snapshot.heartbeats(names) {
            None => Vec::new(),
            Some(question) => {
                let answers = self.topology.ask(&names.lock, &[question]).await?;
                snapshot.waiting(answers.first().unwrap_or(&Value::Nil))
            }
        };
        let waiters = waiting.into_iter().map(|waiting| waiting.waiter).collect();
        Ok((snapshot.state(key.clone(), waiters), snapshot.record.now))
    }

    pub(crate) async fn page(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Vec<LockState>, WireError> {
        match &self.records {
            Records::Native(_) => self.topology.page(listing, cursor).await,
            Records::Redisson(redisson) => redisson.page(listing, cursor).await,
        }
    }

    pub(crate) async fn revoke(
        &self,
        names: &RecordNames,
        order: &RevokeOrder,
    ) -> Result<RevokeReply, WireError> {
        let scripts = match &self.records {
            Records::Native(scripts) => scripts,
            Records::Redisson(redisson) => return redisson.revoke(names, order).await,
        };
        // Another program's record is compared byte by byte, but the operator has only its hash.
        let snapshot = match order.reference {
            HolderRef::Token(_) => None,
            HolderRef::Record(_) => Some(self.snapshot(names).await?),
        };
        let record = snapshot.map(|snapshot| snapshot.record).unwrap_or_default();
        let Some(compared) = Compared::of(order.reference, &record) else {
            return Ok(if record.is_absent() {
                RevokeReply::NotHeld
            } else {
                RevokeReply::Changed
            });
        };
        let names = OneOrMore::from(names.clone());
        let call = ScriptCall {
            script: scripts.revoke(),
            names: &names,
            arguments: &compared.arguments(&order.notice),
            shortcut: None,
            trial: None,
        };
        // In a cluster the command is sent again after a lost answer. By then the first one may have handed the lock
        // off to somebody else.
        let unanswered = AtomicUsize::new(0);
        let mut note = |event: SendEvent| {
            match event {
                SendEvent::Sending(_) => unanswered.fetch_add(1, Ordering::Relaxed),
                SendEvent::Unsent(_) | SendEvent::Answered(_) | SendEvent::Refused(_) => {
                    unanswered.fetch_sub(1, Ordering::Relaxed)
                }
            };
        };
        let answered = self.topology.run(Purpose::End, &call, &mut note).await?;
        match revoke_script::parse(&answered.answer)? {
            RevokeReply::NotHeld | RevokeReply::Changed
                if unanswered.load(Ordering::Relaxed) > 0 =>
            {
                Err(WireError::unavailable(
                    "an answer was lost: it may have been carried out",
                ))
            }
            reply => Ok(reply),
        }
    }

    pub(crate) async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<(String, ServerReply)>, WireError> {
        self.topology.ask_servers(server, commands).await
    }

    pub(crate) fn user(&self) -> Option<String> {
        self.login.user()
    }

    pub(crate) async fn append(&self, stream: &str, line: &Line) -> Result<(), WireError> {
        audit_stream::append(&self.topology, stream, line).await
    }

    pub(crate) async fn lines(
        &self,
        stream: &str,
        since: Option<Duration>,
        cursor: &mut Cursor,
    ) -> Result<Vec<Line>, WireError> {
        audit_stream::page(&self.topology, stream, since, cursor).await
    }
}
